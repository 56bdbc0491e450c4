/** Draws the lines of a terminal as an animated GIF (GIF89a), with a bitmap font. */
import { GIFEncoder } from 'gifenc'
import type { Moment } from './draw.ts'
import { cellHeight, cellWidth, glyphOf } from './font.ts'
import { dark, light, toRgb, type Line, type Rgb, type Run, type Size } from './screen.ts'

/** Players show frames of less than 20 ms longer (GIF counts in hundredths of a second). */
const shortestMs = 20

/** Indices of the palette, which all frames share. */
const [unchanged, ground] = [0, 1]

/** A recording of output that only grows. Until it scrolls, a frame has the pixels that differ from the frame before. */
export function drawGif(
  lines: readonly Line[],
  moments: readonly Moment[],
  { columns, rows }: Size,
  holdMs: number,
): Uint8Array {
  const palette = createPalette()
  const width = columns * cellWidth
  const pixels = new Uint8Array(width * cellHeight * Math.max(lines.length, rows)).fill(ground)
  lines.forEach((line, row) => line.forEach((run) => drawRun(run, row, width, pixels, palette.indexOf)))
  const gif = GIFEncoder()
  const colorDepth = Math.max(2, Math.ceil(Math.log2(palette.colours.length)))
  const height = rows * cellHeight
  let before = new Uint8Array(width * height)
  const shown = moments.filter(
    ({ atMs }, index) => (moments[index + 1]?.atMs ?? Infinity) - atMs >= shortestMs,
  )
  shown.forEach(({ atMs, lines: count }, index) => {
    const top = Math.max(count - rows, 0)
    const frame = new Uint8Array(width * height).fill(ground)
    frame.set(pixels.subarray(top * cellHeight * width, count * cellHeight * width))
    // A screen that has moved up is smaller as a whole: its characters repeat.
    const drawn = top > 0 ? frame : frame.map((pixel, at) => (pixel === before[at] ? unchanged : pixel))
    gif.writeFrame(drawn, width, height, {
      ...(index === 0 && { palette: palette.colours }),
      colorDepth,
      delay: (shown[index + 1]?.atMs ?? atMs + holdMs) - atMs,
      transparent: true,
      transparentIndex: unchanged,
      dispose: 1, // keep
    })
    before = frame
  })
  gif.finish()
  return gif.bytes()
}

/** Collects colours. The encoder reads them with the first frame, when everything has been drawn. */
function createPalette() {
  const colours: Rgb[] = [[0, 0, 0], toRgb(dark)]
  const indices = new Map<string, number>([[String(toRgb(dark)), ground]])
  return {
    colours,
    indexOf: (colour: Rgb): number => {
      const known = indices.get(String(colour))
      if (known !== undefined) return known
      indices.set(String(colour), colours.length)
      return colours.push(colour) - 1
    },
  }
}

/** Draws bold text white, and dim text darker. */
function drawRun(
  { column, text, colour, ground: behind, isBold, isDim }: Run,
  row: number,
  width: number,
  pixels: Uint8Array,
  indexOf: (colour: Rgb) => number,
): void {
  const full = toRgb(colour ?? (isBold ? '#ffffff' : light))
  const below = toRgb(behind ?? dark)
  const ink = indexOf(isDim ? mix(full, below) : full)
  const paper = indexOf(below)
  ;[...text].forEach((char, index) => {
    const glyph = glyphOf(char)
    for (let y = 0; y < cellHeight; y++) {
      const start = (row * cellHeight + y) * width + (column + index) * cellWidth
      for (let x = 0; x < cellWidth; x++) pixels[start + x] = (glyph[y]! << x) & 0x80 ? ink : paper
    }
  })
}

/** The SVG draws dim text with an opacity of 0.6. */
function mix([red, green, blue]: Rgb, [otherRed, otherGreen, otherBlue]: Rgb): Rgb {
  const part = (one: number, other: number) => Math.round(0.6 * one + 0.4 * other)
  return [part(red, otherRed), part(green, otherGreen), part(blue, otherBlue)]
}
