/** Draws the lines of a terminal as SVG, which GitHub shows in a README without scripts. */
import { dark, light, type Line, type Run, type Size } from './terminal.ts'

/** Pixels of a cell, at a font size of 14. */
const [cellWidth, cellHeight] = [8.4, 18]
const margin = 14

/** From `atMs` on, a recording shows the first `lines` lines. */
export type Moment = { atMs: number; lines: number }

/** A screen that does not move. */
export function drawStill(lines: readonly Line[], size: Size, title: string): string {
  return frame(size, title, '', lines.slice(0, size.rows).map(drawLine).join('\n'))
}

/**
 * A recording of output that only grows. All lines are drawn once, below each other; the animation moves them up and
 * uncovers them. Without motion (`prefers-reduced-motion`), it shows the end.
 */
export function drawRecording(
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
<style>text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:${light};white-space:pre}.b{font-weight:700;fill:#fff}.d{opacity:.6}${style}</style>
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

/** `textLength` keeps columns aligned in every font. */
function drawRun({ column, text, colour, ground, isBold, isDim }: Run, row: number): string {
  const start = text.length - text.trimStart().length
  const shown = text.trim()
  const [x, width] = [column * cellWidth, text.length * cellWidth]
  const behind = ground
    ? `<rect x="${round(x)}" y="${row * cellHeight}" width="${round(width)}" height="${cellHeight}" fill="${ground}"/>`
    : ''
  if (shown === '') return behind
  const classes = [isBold && 'b', isDim && 'd'].filter(Boolean).join(' ')
  return `${behind}<text x="${round(x + start * cellWidth)}" y="${row * cellHeight + 13.5}" textLength="${round(shown.length * cellWidth)}"${classes && ` class="${classes}"`}${colour ? ` style="fill:${colour}"` : ''}>${escape(shown)}</text>`
}

const round = (value: number) => Math.round(value * 100) / 100

const escape = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
