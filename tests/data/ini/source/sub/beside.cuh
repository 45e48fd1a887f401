// beside
