package main

// Job is what one run of the program does; it comes as JSON on standard input.
type Job struct {
	Host   string `json:"host"`
	Port   int    `json:"port"`
	Access string `json:"access"`
	Secret string `json:"secret"`
	Region string `json:"region"`

	Connections int `json:"connections"`
	// Operations is an exact number of operations to measure; 0: as many as start within Seconds, Minimum at least.
	Operations int     `json:"operations"`
	Minimum    int     `json:"minimum"`
	Seconds    float64 `json:"seconds"`
	Warmup     float64 `json:"warmup"`

	// Pids are the processes of the server, whose CPU time is measured.
	Pids []int `json:"pids"`

	Requests []Template `json:"requests"`
	// Multipart uploads Operations objects in parts first; what is measured is their completion.
	Multipart *Multipart `json:"multipart"`
	// Background is sent PerSecond times a second on a connection of its own meanwhile and not counted.
	Background *Template `json:"background"`
	PerSecond  float64   `json:"perSecond"`
}

// Template describes Count requests: `{n}` in Path and Query stands for From, From+1, …, From+Count-1.
type Template struct {
	Method string `json:"method"`
	// Path is percent-encoded and begins with a slash; Query is in canonical order, without the question mark.
	Path    string            `json:"path"`
	Query   string            `json:"query"`
	Headers map[string]string `json:"headers"`
	From    int               `json:"from"`
	Count   int               `json:"count"`
	// Body is the number of bytes of the pattern to send.
	Body int `json:"body"`
	// Text is sent instead of the pattern when it is not empty.
	Text   string `json:"text"`
	Expect Expect `json:"expect"`
}

// Expect is what an answer must be. Status and Bytes are checked on every answer, the rest on the first ones.
type Expect struct {
	Status int `json:"status"`
	// Bytes of the body; -1: any.
	Bytes int `json:"bytes"`
	// Offset in the pattern at which the body begins; -1: not compared.
	Offset int `json:"offset"`
	// Keys and Prefixes are how many of each the listing holds; -1: not counted.
	Keys     int `json:"keys"`
	Prefixes int `json:"prefixes"`
}

// Multipart describes uploads of Parts parts of PartSize bytes each to Path.
type Multipart struct {
	Path     string `json:"path"`
	From     int    `json:"from"`
	Parts    int    `json:"parts"`
	PartSize int    `json:"partSize"`
}

// Result is what was measured; it goes as JSON to standard output. Times are in seconds.
type Result struct {
	Operations int     `json:"operations"`
	Errors     int     `json:"errors"`
	FirstError string  `json:"firstError,omitempty"`
	Bytes      int64   `json:"bytes"`
	Seconds    float64 `json:"seconds"`
	P50        float64 `json:"p50"`
	P99        float64 `json:"p99"`
	Longest    float64 `json:"longest"`
	// ServerCPU is the CPU time of Pids, LoadCPU that of this program.
	ServerCPU float64 `json:"serverCpu"`
	LoadCPU   float64 `json:"loadCpu"`
	// OtherCPU is what the rest of the machine used meanwhile: the noise.
	OtherCPU float64 `json:"otherCpu"`
	// Background requests that were answered.
	Background int `json:"background"`
}
