package unit

const ReadBatch = 200
