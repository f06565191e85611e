package jsonc

// Syntax says what a reader allows beyond plain JSON.
type Syntax struct{ Comments, TrailingCommas, Mark bool }

// Any is the syntax that this package reads.
var Any = Syntax{Comments: true, TrailingCommas: true, Mark: true}

// Check returns what keeps a reader with this syntax from reading a document, or nil.
func (s Syntax) Check(text []byte) error {
	_, err := parseAs(text, s)
	return err
}
