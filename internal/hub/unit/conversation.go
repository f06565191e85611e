package unit

// MaxWith is how many others a conversation may be made with.
const MaxWith = 256

func Clamp(n, otherwise, most int) int {
	if n <= 0 {
		return otherwise
	}
	return min(n, most)
}
