package client_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/client"
)

func Example() {
	hub := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"message":{"id":"0195a1b2"},"deliveries":[{"recipient":"arya","state":"accepted"}]}`)
	}))
	defer hub.Close()

	c, err := client.New(client.Options{URL: hub.URL, Token: "parley_…"}) // or with what client.Find returns
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()
	receipt, err := c.Post(context.Background(), parley.Draft{
		Direct:  []string{"arya"},
		Content: parley.Content{Text: "Where is the report?"},
	})
	if err != nil {
		fmt.Println(err) // a code, a sentence, and what to do next
		return
	}
	for _, delivery := range receipt.Deliveries {
		fmt.Println(delivery.Recipient, delivery.State)
	}
	// Output: arya accepted
}
