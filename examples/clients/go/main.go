// Command freshet is a complete Freshet client. It prints a list as JSON whenever it changes: freshet URL QUERY [WINDOW].
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"math/rand"
	"os"
	"sort"
	"time"

	"github.com/gorilla/websocket"
)

// Message is whatever the server sends: docs/protocol.md, 3.2.
type Message struct {
	Type, Version, From, To, Code, Message string
	Offset, Total                          int
	Complete, Fatal, Retryable             bool
	Columns                                []string
	Sections                               []*Section
	Rows                                   []Row
	Window                                 *Window
	Totals, Alongside                      map[string]any
	SectionTotals                          []Tuple[int, map[string]any, any]
	Deleted                                []Path
	SectionsDeleted                        []int
	SectionsInserted                       []Tuple[int, *Section, any]
	Inserted                               []Tuple[int, int, Row]
	Moved, Updated                         []Tuple[Path, Path, map[string]any]
	Filled                                 []Tuple[int, Row, any]
}
type Row []any   // nil: its contents are not held
type Path [2]int // a section, and an item in it
type Window struct {
	Offset int `json:"offset"`
	Limit  int `json:"limit"`
}
type Section struct {
	Name       any
	IndexTitle string
	Count      int
	Totals     map[string]any
	Rows       []Row
}

// Tuple is an array in JSON, whose last elements may be missing.
type Tuple[A, B, C any] struct {
	A A
	B B
	C C
}

func (t *Tuple[A, B, C]) UnmarshalJSON(text []byte) error {
	return json.Unmarshal(text, &[]any{&t.A, &t.B, &t.C})
}

// List is its last snapshot, kept up to date.
type List Message

// Apply takes in a snapshot, rows or a patch. After an error only a snapshot helps.
func (l *List) Apply(m *Message) (err error) {
	defer func() { // also a path or an offset that there is not
		if problem := recover(); problem != nil {
			l.Complete, err = false, fmt.Errorf("not what the server has: %v", problem)
		}
	}()
	if m.Type == "snapshot" {
		*l = List(*m)
		l.Totals, l.Alongside = map[string]any{}, map[string]any{}
		for _, section := range l.Sections {
			section.Rows = make([]Row, section.Count)
		}
	} else if m.Version+m.From != l.Version { // rows have the one, patches the other
		panic("another version")
	} else if m.Type == "patch" {
		l.patch(m)
	}
	if m.Window != nil {
		l.Window = m.Window
	}
	merge(l.Totals, m.Totals)
	merge(l.Alongside, m.Alongside)
	l.Complete = m.Complete || m.Type == "patch"
	rows := l.contents()
	for index, row := range m.Rows {
		*rows[m.Offset+index] = row
	}
	for _, filled := range m.Filled { // 6
		*rows[filled.A] = filled.B
	}
	for offset, row := range rows {
		if w := l.Window; w != nil && (offset < w.Offset || offset >= w.Offset+w.Limit) {
			*row = nil
		} else if *row == nil && l.Complete {
			panic("a row without contents")
		}
	}
	if m.Type != "rows" && len(rows) != m.Total {
		panic("another total")
	}
	return nil
}

// patch takes the steps of docs/protocol.md, 3.3.
func (l *List) patch(m *Message) {
	leaving, arriving := map[Path]Row{}, map[Path]Row{} // 1
	for _, path := range m.Deleted {
		leaving[path] = nil
	}
	for _, move := range m.Moved {
		leaving[move.A] = nil
	}
	for _, path := range sorted(leaving, -1) {
		rows := &l.Sections[path[0]].Rows
		leaving[path] = (*rows)[path[1]]
		*rows = append((*rows)[:path[1]], (*rows)[path[1]+1:]...)
	}
	for _, index := range m.SectionsDeleted { // 2
		l.Sections = append(l.Sections[:index], l.Sections[index+1:]...)
	}
	for _, section := range m.SectionsInserted { // 3
		section.B.Rows = append(section.B.Rows, make([]Row, section.B.Count-len(section.B.Rows))...)
		insert(&l.Sections, section.A, section.B)
	}
	for _, row := range m.Inserted { // 4
		arriving[Path{row.A, row.B}] = row.C
	}
	for _, move := range m.Moved {
		arriving[move.B] = leaving[move.A]
	}
	for _, path := range sorted(arriving, 1) {
		insert(&l.Sections[path[0]].Rows, path[1], arriving[path])
	}
	for _, change := range append(m.Moved, m.Updated...) { // 5
		row := l.Sections[change.B[0]].Rows[change.B[1]]
		for index, column := range l.Columns {
			if value, isChanged := change.C[column]; isChanged && row != nil {
				row[index] = value
			}
		}
	}
	for _, totals := range m.SectionTotals { // 7
		merge(l.Sections[totals.A].Totals, totals.B)
	}
	l.Version = m.To
}

func merge(values, changes map[string]any) {
	for name, value := range changes {
		values[name] = value
	}
}

// contents are the rows of all sections, in order.
func (l *List) contents() (rows []*Row) {
	for _, section := range l.Sections {
		section.Count = len(section.Rows)
		for item := range section.Rows {
			rows = append(rows, &section.Rows[item])
		}
	}
	return rows
}

func sorted(rows map[Path]Row, direction int) (paths []Path) {
	for path := range rows {
		paths = append(paths, path)
	}
	sort.Slice(paths, func(i, j int) bool {
		a, b := paths[i], paths[j]
		return direction*(a[0]-b[0]) < 0 || a[0] == b[0] && direction*(a[1]-b[1]) < 0
	})
	return paths
}

func insert[T any](list *[]T, at int, value T) {
	*list = append((*list)[:at], append([]T{value}, (*list)[at:]...)...)
}

// follow lasts as long as one connection, and calls changed after every change.
func follow(url, query string, list *List, changed func()) error {
	dialer := websocket.Dialer{Subprotocols: []string{"freshet.v1"}, HandshakeTimeout: 10 * time.Second}
	socket, _, err := dialer.Dial(url, nil)
	if err != nil {
		return err
	}
	defer socket.Close()
	subscribe := map[string]any{"type": "subscribe", "id": "a", "query": json.RawMessage(query)}
	if list.Window != nil {
		subscribe["window"] = list.Window
	}
	if list.Complete {
		subscribe["since"] = list.Version
	}
	for err = socket.WriteJSON(subscribe); err == nil; {
		var m Message
		if err = socket.ReadJSON(&m); err != nil {
			break
		}
		switch m.Type {
		case "snapshot", "rows", "patch":
			if err = list.Apply(&m); list.Complete {
				changed()
			}
		case "error":
			if m.Fatal && !m.Retryable {
				log.Fatalln(m.Code, m.Message)
			} else if m.Fatal {
				err = errors.New(m.Message)
			}
		}
	}
	return err
}

func main() {
	list, delay := List{}, time.Second/4
	if len(os.Args) > 3 && json.Unmarshal([]byte(os.Args[3]), &list.Window) != nil || len(os.Args) < 3 {
		log.Fatalln("usage: freshet URL QUERY [WINDOW]")
	}
	for {
		err := follow(os.Args[1], os.Args[2], &list, func() {
			names, rows := []any{}, [][]Row{}
			for _, section := range list.Sections {
				names, rows = append(names, section.Name), append(rows, section.Rows)
			}
			text, _ := json.Marshal(map[string]any{"sections": names, "rows": rows, "window": list.Window})
			fmt.Println(string(text))
			delay = time.Second / 4
		})
		log.Println(err)
		// Half of it by chance, so that the clients of a server that restarts do not come all at once.
		time.Sleep(delay/2 + time.Duration(rand.Int63n(int64(delay/2))))
		if delay < 15*time.Second {
			delay *= 2
		}
	}
}
