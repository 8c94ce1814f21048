package reference

// icons stand on whatever shows icons: a picture of one pixel that needs no network.
var icons = []object{{"src": "data:image/png;base64," + pngBase64, "mimeType": "image/png", "sizes": []string{"1x1"}}}

const (
	// pngBase64 is a picture of one blue pixel.
	pngBase64 = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR42mOQz38NAAIqAXpGbxguAAAAAElFTkSuQmCC"
	// wavBase64 is a sound of eight samples.
	wavBase64 = "UklGRjQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YRAAAAAAAAAgAEAAIAAAAOAAwADg"
)
