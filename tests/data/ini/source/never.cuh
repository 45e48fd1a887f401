// never
