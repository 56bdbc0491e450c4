/** QR codes as files: SVG and PNG, black on white. */
import { writeFileSync } from 'node:fs'
import { CommandError } from '../errors/errors.ts'
import { toPng } from './png.ts'
import type { Format } from './qr-choice.ts'
import { modulesOf, tooLong } from './qr-modules.ts'

/** Modules of white around a code (ISO/IEC 18004 §5.3.8). */
const quietZone = 4

/** Pixels of a module. */
const scale = 8

/** Writes a text's QR code to a new file. @throws {CommandError} when there can be none. */
export function writeQr(text: string, format: Format, file: string): void {
  const reason = tooLong(text)
  if (reason !== undefined) throw new CommandError(`There is no QR code: ${reason}.`, 1)
  const modules = modulesOf(text, quietZone)
  try {
    writeFileSync(file, format === 'svg' ? toSvg(modules) : toPng(modules, scale), { flag: 'wx' })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST')
      throw new CommandError(
        `There is a file ${file} already, which is left as it is. Name another by --qr-file.`,
        1,
      )
    throw new CommandError(`The QR code cannot be written: ${(error as Error).message}.`, 1)
  }
}

/** A path of one bar for each run of black modules. */
function toSvg(modules: readonly (readonly boolean[])[]): string {
  const size = modules.length
  const bars = modules.flatMap((row, y) =>
    [
      ...row
        .map((isBlack) => (isBlack ? '1' : '0'))
        .join('')
        .matchAll(/1+/g),
    ].map(({ 0: run, index }) => `M${index} ${y}h${run.length}v1h-${run.length}z`),
  )
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${size * scale}" height="${size * scale}" viewBox="0 0 ${size} ${size}" shape-rendering="crispEdges">
<rect width="${size}" height="${size}" fill="#fff"/>
<path fill="#000" d="${bars.join('')}"/>
</svg>
`
}
