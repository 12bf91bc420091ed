package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand"
	"os"
	"time"

	"github.com/gorilla/websocket"
)

// Follow calls changed with the list after every change. After a broken connection it resumes from the version that it has. It returns
// only when the server refuses the query.
func Follow(url string, query json.RawMessage, window *Window, changed func(*List)) error {
	list, failures := &List{}, 0
	for {
		err := connected(url, query, window, list, func(list *List) {
			failures = 0
			changed(list)
		})
		var refused *refusal
		if errors.As(err, &refused) && !refused.isRetryable {
			return err
		}
		if errors.Is(err, errMismatch) {
			*list = List{}
		}
		// Half of it by chance, so that the clients of a server that restarts do not come all at once.
		delay := 250 * time.Millisecond << failures
		time.Sleep(delay/2 + time.Duration(rand.Int63n(int64(delay/2))))
		if failures < 6 {
			failures++
		}
	}
}

type refusal struct {
	message     string
	isRetryable bool
}

func (r *refusal) Error() string { return r.message }

// connected follows for as long as one connection lasts.
func connected(url string, query json.RawMessage, window *Window, list *List, changed func(*List)) error {
	dialer := websocket.Dialer{Subprotocols: []string{"freshet.v1"}, HandshakeTimeout: 10 * time.Second}
	socket, _, err := dialer.Dial(url, nil)
	if err != nil {
		return err
	}
	defer socket.Close()
	subscribe := map[string]any{"type": "subscribe", "id": "a", "query": query}
	if list.Complete {
		subscribe["since"] = list.Version
	}
	if window != nil {
		subscribe["window"] = window
		if list.Window != nil {
			subscribe["window"] = list.Window
		}
	}
	if err := socket.WriteJSON(subscribe); err != nil {
		return err
	}
	for {
		var message Message
		if err := socket.ReadJSON(&message); err != nil {
			return err
		}
		switch message.Type {
		case "error":
			if message.Fatal {
				return &refusal{message.Code + ": " + message.Text, message.Retryable}
			}
		case "snapshot", "rows", "patch":
			if err := list.Apply(&message); err != nil {
				return err
			}
			if list.Complete {
				changed(list)
			}
		}
	}
}

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, `usage: freshet URL QUERY [WINDOW]`)
		os.Exit(2)
	}
	var window *Window
	if len(os.Args) > 3 {
		if err := json.Unmarshal([]byte(os.Args[3]), &window); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
	}
	err := Follow(os.Args[1], json.RawMessage(os.Args[2]), window, func(list *List) {
		names := []any{}
		for _, section := range list.Sections {
			names = append(names, section.Name)
		}
		text, _ := json.Marshal(map[string]any{"sections": names, "rows": list.Rows(), "window": list.Window})
		fmt.Println(string(text))
	})
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
