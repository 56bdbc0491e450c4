/**
 * The flags of commands that print an invitation or another text to scan: `--qr`, `--qr-file`, `--long`,
 * `--open`.
 */
import { extname } from 'node:path'
import * as Flags from '@oclif/core/flags'
import type { FlagValues } from '../define-command.ts'
import { UsageError } from '../errors/errors.ts'
import { checkNewFile } from '../input/files.ts'

const imageFormats = ['svg', 'png'] as const
export type Format = (typeof imageFormats)[number]

/**
 * Returns the flags of a command with a QR code. `anyOf` names flags of which they require one, `unsaid`
 * describes the default.
 */
export function qrFlags(anyOf: string[] = [], unsaid = 'small') {
  const relationships = anyOf.length === 0 ? [] : [{ type: 'some' as const, flags: anyOf }]
  return {
    qr: Flags.option({ options: ['small', 'large', ...imageFormats, 'none'] as const })({
      relationships,
      helpGroup: 'QR CODE',
      description: `size of the QR code, or svg or png for a file; default: ${unsaid}`,
    }),
    'qr-file': Flags.string({
      relationships,
      helpGroup: 'QR CODE',
      description: 'name of the .svg or .png file; default: the id of the record',
    }),
    long: Flags.boolean({
      relationships,
      helpGroup: 'QR CODE',
      description: 'the text without a short link, for wallets that do not read short links',
    }),
    open: Flags.boolean({
      relationships,
      helpGroup: 'QR CODE',
      description: 'open the page with the QR code in the browser',
    }),
  }
}

export type QrFlags = Partial<FlagValues<ReturnType<typeof qrFlags>>>

/** A drawn code or a file. An optional code is omitted if it does not fit. */
export type QrOutput =
  | { in: 'terminal'; size: 'small' | 'large'; isAsked: boolean }
  | { in: 'file'; format: Format; file: string | undefined }

/**
 * The resolved flags. `isLong` is true for the text without a short link, `isOpened` if the browser shows the
 * page.
 */
export type QrChoice = { output: QrOutput | undefined; isLong: boolean; isOpened: boolean }

/**
 * Resolves the flags before the command has an effect. The file must be new and writable.
 *
 * @throws {UsageError} when the flags contradict each other, or the file cannot be created.
 */
export function chooseQr(flags: QrFlags): QrChoice {
  return { output: chooseOutput(flags), isLong: flags.long === true, isOpened: flags.open === true }
}

function chooseOutput({ qr, 'qr-file': file }: QrFlags): QrOutput | undefined {
  const ending = imageFormats.find(
    (format) => file !== undefined && extname(file).toLowerCase() === `.${format}`,
  )
  const format = imageFormats.find((each) => each === qr) ?? (qr === undefined ? ending : undefined)
  if (format !== undefined) return { in: 'file', format, file: checkFile(file, format, ending) }
  if (file !== undefined && qr === undefined)
    throw new UsageError(`--qr-file: ${file} ends in neither .svg nor .png. Add --qr svg or --qr png.`)
  if (file !== undefined)
    throw new UsageError(`--qr ${qr} writes no file. Use --qr svg or --qr png with --qr-file.`)
  return qr === 'none'
    ? undefined
    : { in: 'terminal', size: qr === 'large' ? qr : 'small', isAsked: qr !== undefined }
}

/** The flags of a command that draws no code by default. */
export const askedQrFlags = () => qrFlags([], 'none')

/** Resolves those flags. @throws {UsageError} */
export function chooseAskedQr(flags: QrFlags): QrChoice {
  return chooseQr(flags.qr === undefined && flags['qr-file'] === undefined ? { ...flags, qr: 'none' } : flags)
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
  checkNewFile('qr-file', file)
  return file
}
