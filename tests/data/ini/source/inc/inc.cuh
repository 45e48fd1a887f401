// inc
