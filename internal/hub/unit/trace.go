package unit

const ReadBytes = 4 << 20 // of the texts of one trace or thread: a thousand messages may have a quarter of a gigabyte
