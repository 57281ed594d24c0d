// SGW_WEBHOOK_SECRET=whsec_… PORT=8080 go run webhook.go
package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"strconv"
	"time"
)

func isFromGateway(headers http.Header, body []byte, secret string) bool {
	timestamp := headers.Get("X-Gateway-Timestamp")
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if age := time.Now().Unix() - seconds; err != nil || age > 300 || age < -300 {
		return false
	}
	mac := hmac.New(sha256.New, []byte(secret))
	fmt.Fprintf(mac, "%s.%s", timestamp, body)
	expected := "sha256=" + hex.EncodeToString(mac.Sum(nil))
	return hmac.Equal([]byte(expected), []byte(headers.Get("X-Gateway-Signature")))
}

func main() {
	secret := os.Getenv("SGW_WEBHOOK_SECRET")
	http.HandleFunc("/sms", func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
		if err != nil || !isFromGateway(r.Header, body, secret) {
			http.Error(w, "Not from the gateway", http.StatusUnauthorized)
			return
		}
		var event struct{ Type, From, Body string }
		if err := json.Unmarshal(body, &event); err != nil {
			http.Error(w, "Not JSON", http.StatusBadRequest)
			return
		}
		fmt.Println(event.Type, event.From, event.Body)
		w.WriteHeader(http.StatusNoContent)
	})
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), nil))
}
