/** The flags `--qr` and `--qr-file`, and QR codes as SVG and PNG files. */
import { accessSync, constants, existsSync, writeFileSync } from 'node:fs'
import { dirname, extname } from 'node:path'
import { crc32, deflateSync } from 'node:zlib'
import * as Flags from '@oclif/core/flags'
import type { FlagValues } from '../define-command.ts'
import { CommandError, UsageError } from '../errors/errors.ts'
import { systemReason } from '../../src/base/system-reason.ts'
import { modulesOf, tooLong } from './qr.ts'

const formats = ['svg', 'png'] as const
export type Format = (typeof formats)[number]

/** Returns the flags of a command with a QR code. `dependsOn` names a flag that they require, `unsaid` describes the default. */
export function qrFlags(dependsOn: string[] = [], unsaid = 'small, if the terminal is large enough') {
  return {
    qr: Flags.option({ options: ['small', 'large', ...formats, 'none'] as const })({
      dependsOn,
      helpGroup: 'QR CODE',
      description: `size of the QR code, or svg or png for a file; default: ${unsaid}`,
    }),
    'qr-file': Flags.string({
      dependsOn,
      helpGroup: 'QR CODE',
      description: 'name of the .svg or .png file; default: the id of the record',
    }),
  }
}

export type QrFlags = Partial<FlagValues<ReturnType<typeof qrFlags>>>

/** The resolved flags. An optional code is omitted if it does not fit. */
export type QrChoice =
  | { in: 'terminal'; size: 'small' | 'large'; isAsked: boolean }
  | { in: 'file'; format: Format; file: string | undefined }
  | undefined

/**
 * Resolves the flags before the command has an effect. The file must be new and writable.
 *
 * @throws {UsageError} when the flags contradict each other, or the file cannot be created.
 */
export function chooseQr({ qr, 'qr-file': file }: QrFlags): QrChoice {
  const ending = formats.find((format) => file !== undefined && extname(file).toLowerCase() === `.${format}`)
  const format = formats.find((each) => each === qr) ?? (qr === undefined ? ending : undefined)
  if (format !== undefined) return { in: 'file', format, file: checkFile(file, format, ending) }
  if (file !== undefined && qr === undefined)
    throw new UsageError(`--qr-file: ${file} ends in neither .svg nor .png. Add --qr svg or --qr png.`)
  if (file !== undefined)
    throw new UsageError(`--qr ${qr} writes no file. Use --qr svg or --qr png with --qr-file.`)
  return qr === 'none'
    ? undefined
    : { in: 'terminal', size: qr === 'large' ? 'large' : 'small', isAsked: qr !== undefined }
}

/** The flags of a command that draws no code by default. */
export const askedQrFlags = () => qrFlags([], 'none')

/** Resolves those flags. @throws {UsageError} */
export function chooseAskedQr(flags: QrFlags): QrChoice {
  return flags.qr === undefined && flags['qr-file'] === undefined ? undefined : chooseQr(flags)
}

function checkFile(file: string | undefined, format: Format, ending: Format | undefined): string | undefined {
  if (file === '-') throw new UsageError('--qr-file: standard output carries the text. Name a file.')
  if (ending !== undefined && ending !== format)
    throw new UsageError(`--qr-file: ${file} ends in .${ending}, and --qr says ${format}.`)
  const other = extname(file ?? '')
  if (ending === undefined && other !== '')
    throw new UsageError(
      `--qr-file: ${file} ends in ${other}, and --qr says ${format}. Name a file that ends in .${format}.`,
    )
  if (file !== undefined && existsSync(file))
    throw new UsageError(`--qr-file: the file ${file} exists. Choose another name, or remove it.`)
  const folder = dirname(file ?? '.')
  try {
    accessSync(folder, constants.W_OK)
  } catch (error) {
    throw new UsageError(
      `--qr-file: the folder ${folder} is not writable: ${systemReason(error)}. Choose another file.`,
    )
  }
  return file
}

/** The quiet zone in modules (ISO/IEC 18004 §5.3.8). */
const quietZone = 4

/** Pixels per module. */
const scale = 8

/** Writes the QR code of a text to a new file. @throws {CommandError} when that fails */
export function writeQr(text: string, format: Format, file: string): void {
  const reason = tooLong(text)
  if (reason !== undefined) throw new CommandError(`There is no QR code: ${reason}.`, 1)
  const modules = modulesOf(text, quietZone)
  try {
    writeFileSync(file, format === 'svg' ? toSvg(modules) : toPng(modules, scale), { flag: 'wx' })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST')
      throw new CommandError(
        `The file ${file} exists and was not changed. Choose another name with --qr-file.`,
        1,
      )
    throw new CommandError(`The QR code cannot be written: ${(error as Error).message}.`, 1)
  }
}

/** Returns an SVG path with one bar for each run of black modules. */
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

const signature = Buffer.from('\u0089PNG\r\n\u001a\n', 'latin1')

/** Encodes rows of modules as PNG (ISO/IEC 15948), one bit per pixel. True is black. `scale` is pixels per module. */
function toPng(rows: readonly (readonly boolean[])[], scale: number): Buffer {
  const width = rows[0]!.length * scale
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(rows.length * scale, 4)
  header.writeUInt8(1, 8) // bits per pixel; the rest is 0: greyscale, deflate, standard filters, not interlaced
  const pixels = rows.flatMap((row) => Array.from({ length: scale }, () => toScanline(row, width, scale)))
  return Buffer.concat([
    signature,
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(Buffer.concat(pixels))),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

/** Encodes a line of pixels: the filter type 0, then one bit per pixel, 1 for white, highest bit first. */
function toScanline(row: readonly boolean[], width: number, scale: number): Buffer {
  const line = Buffer.alloc(1 + Math.ceil(width / 8))
  for (let x = 0; x < width; x++) if (!row[Math.floor(x / scale)]) line[1 + (x >> 3)]! |= 0x80 >> (x & 7)
  return line
}

function chunk(type: string, data: Buffer): Buffer {
  const typed = Buffer.concat([Buffer.from(type), data])
  const whole = Buffer.alloc(4 + typed.length + 4)
  whole.writeUInt32BE(data.length, 0)
  typed.copy(whole, 4)
  whole.writeUInt32BE(crc32(typed), 4 + typed.length)
  return whole
}
