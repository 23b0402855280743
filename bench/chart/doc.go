// Package chart draws figures as SVG: plain shapes and text, no script, colours for a light and a dark page. The same figures give the same bytes.
package chart
