/** Draws a recording of output that only grows, as an animation. A bundle of its own: it has a terminal emulator and a font. */
import type { Recorded } from '../demo/recording.ts'
import { drawGif } from './gif.ts'
import { linesOf, newScreen, write } from './screen.ts'
import { drawSvg } from './svg.ts'

/** From `atMs` on, an animation shows the first `lines` lines. */
export type Moment = { atMs: number; lines: number }

/** How long the end is shown before the animation begins again. */
const holdMs = 6_000

/** Returns an SVG text, or the bytes of a GIF. */
export async function drawRecording(
  format: 'svg' | 'gif',
  { title, columns, rows, printed }: Recorded,
): Promise<string | Uint8Array> {
  const size = { columns, rows }
  const screen = newScreen(size)
  const moments: Moment[] = []
  for (const { atMs, text } of printed) {
    await write(screen, text)
    const { baseY, cursorY } = screen.buffer.active
    moments.push({ atMs: Math.round(atMs), lines: baseY + cursorY })
  }
  const lines = linesOf(screen).slice(0, moments.at(-1)!.lines)
  return format === 'svg'
    ? drawSvg(lines, moments, size, title, holdMs)
    : drawGif(lines, moments, size, holdMs)
}
