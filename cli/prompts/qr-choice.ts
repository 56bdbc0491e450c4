/** How a QR code is wanted: the flags `--qr` and `--qr-file`. */
import { accessSync, constants, existsSync } from 'node:fs'
import { dirname, extname } from 'node:path'
import * as Flags from '@oclif/core/flags'
import { UsageError } from '../errors/errors.ts'
import { systemReason } from '../../src/base/system-reason.ts'

const formats = ['svg', 'png'] as const
export type Format = (typeof formats)[number]

/** The flags of a command that prints what is also a QR code; `dependsOn` names the flag without which there is none, `unsaid` what is drawn without them. */
export function qrFlags(dependsOn: string[] = [], unsaid = 'small, on a terminal that it fits into') {
  return {
    qr: Flags.option({ options: ['small', 'large', ...formats, 'none'] as const })({
      dependsOn,
      helpGroup: 'QR CODE',
      description: `how the QR code is drawn, or svg or png for a file; when left out, ${unsaid}`,
    }),
    'qr-file': Flags.string({
      dependsOn,
      helpGroup: 'QR CODE',
      description: 'name of the .svg or .png file; of the record’s id when left out',
    }),
  }
}

export type QrFlags = { qr?: 'small' | 'large' | Format | 'none' | undefined; 'qr-file'?: string | undefined }

/** What the flags come to. What is not asked for is not missed where it cannot be. */
export type QrChoice =
  | { in: 'terminal'; size: 'small' | 'large'; isAsked: boolean }
  | { in: 'file'; format: Format; file: string | undefined }
  | undefined

/**
 * Reads the flags, before anything is made whose QR code it is. A file must be a new one that can be written.
 *
 * @throws {UsageError} when the flags do not go together, or the file cannot be made.
 */
export function chooseQr({ qr, 'qr-file': file }: QrFlags): QrChoice {
  const ending = formats.find((format) => file !== undefined && extname(file).toLowerCase() === `.${format}`)
  const format = formats.find((each) => each === qr) ?? (qr === undefined ? ending : undefined)
  if (format !== undefined) return { in: 'file', format, file: checkFile(file, format, ending) }
  if (file !== undefined && qr === undefined)
    throw new UsageError(
      `--qr-file: ${file} ends in neither .svg nor .png. Say which by --qr svg or --qr png.`,
    )
  if (file !== undefined)
    throw new UsageError(`--qr ${qr} makes no file: with --qr-file goes --qr svg or --qr png.`)
  return qr === 'none'
    ? undefined
    : { in: 'terminal', size: qr === 'large' ? 'large' : 'small', isAsked: qr !== undefined }
}

/** The flags of a command that draws only when it is told to. */
export const askedQrFlags = () => qrFlags([], 'not at all')

/** Reads those. @throws {UsageError} */
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
    throw new UsageError(`--qr-file: there is a file ${file} already. Name another, or remove it.`)
  const folder = dirname(file ?? '.')
  try {
    accessSync(folder, constants.W_OK)
  } catch (error) {
    throw new UsageError(
      `--qr-file: nothing can be written to the folder ${folder}: ${systemReason(error)}. Name another file.`,
    )
  }
  return file
}
