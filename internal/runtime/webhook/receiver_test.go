package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// receiver is the example in docs/runtimes/webhook.md. A test compares the two.
func receiver(secret string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(http.MaxBytesReader(w, r.Body, 8<<20))
		timestamp := r.Header.Get("Parley-Timestamp")
		mac := hmac.New(sha256.New, []byte(secret))
		mac.Write([]byte(timestamp + "." + string(body)))
		want := "v1=" + hex.EncodeToString(mac.Sum(nil))
		sent, _ := strconv.ParseInt(timestamp, 10, 64)
		age := time.Since(time.Unix(sent, 0)).Abs()
		if !hmac.Equal([]byte(want), []byte(r.Header.Get("Parley-Signature"))) || age > 5*time.Minute {
			http.Error(w, "wrong signature", http.StatusUnauthorized)
			return
		}
		var call struct {
			Triggers []struct {
				From    string
				Content struct{ Text string }
			}
		}
		if err := json.Unmarshal(body, &call); err != nil || len(call.Triggers) == 0 {
			http.Error(w, "not a call", http.StatusBadRequest)
			return
		}
		newest := call.Triggers[len(call.Triggers)-1]
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]string{
			"text": "You said: " + strings.ToUpper(newest.Content.Text),
		})
	}
}
