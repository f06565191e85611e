package local

// Signal puts a signal into a channel with a buffer of one, unless one is there already.
func Signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
