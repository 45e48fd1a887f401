#define MARGIN 2
