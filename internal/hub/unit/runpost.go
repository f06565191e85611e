package unit

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
)

// CallDigest tells one call from another: the same call of a later attempt is not made again.
func CallDigest(call any) (string, error) {
	raw, err := json.Marshal(call)
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:]), err
}
