/** Draws the lines of a terminal as SVG, which GitHub shows in a README without scripts. */
import type { Moment } from './draw.ts'
import { dark, light, type Line, type Run, type Size } from './screen.ts'

/** Pixels of a cell, at a font size of 14. */
const [cellWidth, cellHeight] = [8.4, 18]
const margin = 14

/** A screen that does not move. */
export function drawStill(lines: readonly Line[], size: Size, title: string): string {
  return frame(size, title, '', lines.slice(0, size.rows).map(drawLine).join('\n'))
}

/**
 * A recording of output that only grows. All lines are drawn once, below each other; the animation moves them
 * up and uncovers them. Without motion (`prefers-reduced-motion`), it shows the end.
 */
export function drawSvg(
  lines: readonly Line[],
  moments: readonly Moment[],
  size: Size,
  title: string,
  holdMs: number,
): string {
  const durationMs = moments.at(-1)!.atMs + holdMs
  const scrolled = (count: number) => round(-Math.max(count - size.rows, 0) * cellHeight)
  const covered = (count: number) => round(Math.min(count, size.rows) * cellHeight)
  const steps = (at: (count: number) => number) =>
    moments
      .map(
        ({ atMs, lines: count }) =>
          `${round((atMs / durationMs) * 100)}%{transform:translateY(${at(count)}px)}`,
      )
      .join('')
  const last = moments.at(-1)!.lines
  const style = `
#lines{transform:translateY(${scrolled(last)}px)}#cover{transform:translateY(${covered(last)}px)}
@media (prefers-reduced-motion:no-preference){
#lines{animation:lines ${durationMs}ms step-end infinite}#cover{animation:cover ${durationMs}ms step-end infinite}}
@keyframes lines{${steps(scrolled)}}
@keyframes cover{${steps(covered)}}`
  const [width, height] = pixels(size)
  const content = `<g id="lines">\n${lines.map(drawLine).filter(Boolean).join('\n')}\n</g>
<rect id="cover" width="${width}" height="${height}" fill="${dark}"/>`
  return frame(size, title, style, content)
}

const pixels = ({ columns, rows }: Size) => [round(columns * cellWidth), rows * cellHeight] as const

function frame(size: Size, title: string, style: string, content: string): string {
  const [width, height] = pixels(size)
  const [outerWidth, outerHeight] = [width + 2 * margin, height + 2 * margin]
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${outerWidth}" height="${outerHeight}" viewBox="0 0 ${outerWidth} ${outerHeight}" role="img">
<title>${escape(title)}</title>
<style>text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;white-space:pre}text,path{fill:${light}}path{shape-rendering:crispEdges}.b{font-weight:700;fill:#fff}.d{opacity:.6}${style}</style>
<rect width="${outerWidth}" height="${outerHeight}" rx="8" fill="${dark}" stroke="#3d444d"/>
<svg x="${margin}" y="${margin}" width="${width}" height="${height}" overflow="hidden">
${content}
</svg>
</svg>
`
}

function drawLine(line: Line, row: number): string {
  return line.map((run) => drawRun(run, row)).join('')
}

/**
 * `textLength` keeps columns aligned in every font. Words apart are texts of their own: some viewers merge
 * spaces.
 */
function drawRun({ column, text, colour, ground, isBold, isDim }: Run, row: number): string {
  const [left, top] = [column * cellWidth, row * cellHeight]
  const behind = ground
    ? `<rect x="${round(left)}" y="${top}" width="${round(text.length * cellWidth)}" height="${cellHeight}" fill="${ground}"/>`
    : ''
  const style = colour ? ` style="fill:${colour}"` : ''
  const classes = [isBold && 'b', isDim && 'd'].filter(Boolean).join(' ')
  const shapes = drawShapes(text, left, top)
  const path = shapes && `<path${style} d="${shapes}"/>`
  const words = [...text.replaceAll(shaped, ' ').matchAll(/\S+(?: \S+)*/g)].map(
    ({ 0: word, index }) =>
      `<text x="${round(left + index * cellWidth)}" y="${top + 13.5}" textLength="${round(word.length * cellWidth)}"${classes && ` class="${classes}"`}${style}>${escape(word)}</text>`,
  )
  return behind + path + words.join('')
}

/** Parts of a cell, x, y, width and height in pixels. Fonts leave gaps between lines of such characters. */
const half = cellHeight / 2
const [middle, stroke] = [cellWidth / 2 - 0.5, 1]
const above = [middle, 0, stroke, half + 0.5] as const
const below = [middle, half - 0.5, stroke, half + 0.5] as const
const before = [0, half - 0.5, middle + stroke, stroke] as const
const after = [middle, half - 0.5, cellWidth - middle, stroke] as const
const across = [0, half - 0.5, cellWidth, stroke] as const
const shapes: Readonly<Record<string, readonly (readonly [number, number, number, number])[]>> = {
  '█': [[0, 0, cellWidth, cellHeight]],
  '▀': [[0, 0, cellWidth, half]],
  '▄': [[0, half, cellWidth, half]],
  '─': [across],
  '│': [above, below],
  '┬': [across, below],
  '┴': [across, above],
  '┼': [across, above, below],
  '├': [after, above, below],
  '┤': [before, above, below],
  '┌': [after, below],
  '╭': [after, below],
  '┐': [before, below],
  '╮': [before, below],
  '└': [after, above],
  '╰': [after, above],
  '┘': [before, above],
  '╯': [before, above],
}
const shaped = new RegExp(`[${Object.keys(shapes).join('')}]`, 'g')

/** The path of the blocks and lines in a text. Neighbours of the same kind are one shape. */
function drawShapes(text: string, left: number, top: number): string {
  return [...text.matchAll(/(.)\1*/gu)]
    .flatMap(({ 0: { length }, 1: char = '', index }) =>
      (shapes[char] ?? []).flatMap(([x, y, width, height]) => {
        const isWide = width === cellWidth
        return Array.from({ length: isWide ? 1 : length }, (_, at) => {
          const across = round(isWide ? width * length : width)
          return `M${round(left + (index + at) * cellWidth + x)} ${round(top + y)}h${across}v${height}h-${across}z`
        })
      }),
    )
    .join('')
}

const round = (value: number) => Math.round(value * 100) / 100

const escape = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
