/** Draws a recording of output that only grows, as an animated SVG. */
import { linesOf, newScreen, type Size, write } from './screen.ts'
import { drawSvg } from './svg.ts'

/** Output that was added to the screen at `atMs`. */
export type Printed = { atMs: number; text: string }

/** From `atMs` on, an animation shows the first `lines` lines. */
export type Moment = { atMs: number; lines: number }

/** How long the end is shown before the animation begins again. */
const holdMs = 6_000

/** Returns an SVG text. */
export async function drawRecording(title: string, size: Size, printed: readonly Printed[]): Promise<string> {
  const screen = newScreen(size)
  const moments: Moment[] = []
  for (const { atMs, text } of printed) {
    await write(screen, text)
    const { baseY, cursorY } = screen.buffer.active
    moments.push({ atMs: Math.round(atMs), lines: baseY + cursorY })
  }
  const lines = linesOf(screen).slice(0, moments.at(-1)!.lines)
  return drawSvg(lines, moments, size, title, holdMs)
}
