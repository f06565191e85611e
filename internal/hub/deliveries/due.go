package deliveries

const DueBatch = 100
