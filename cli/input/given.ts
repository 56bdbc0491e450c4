/**
 * A text that a command takes in every form: as the argument, in a file, as the picture of a QR code, or on
 * standard input.
 */
import { existsSync } from 'node:fs'
import { UsageError } from '../errors/errors.ts'
import { safeLine } from '../format/text.ts'
import { readBytes } from './files.ts'

const maxPictureBytes = 50_000_000

/** An argument that can be a text, and not only the name of a file. */
const isLongText = (text: string) => text.length > 1_000 || /^\s*\{|\n/.test(text)

/** The scheme of a URL has more letters than the drive of a path. */
const isUrl = (text: string) => /^\s*[a-z][a-z0-9+.-]+:/i.test(text)

const endsAsFile = (text: string) =>
  /[/\\]|\.(?:png|jpe?g|gif|webp|svg|pdf|txt|json|jwt|url|cbor|cwt|mdoc)$/i.test(text)

/**
 * Reads the text that an argument is or names: `-` is standard input, `@path` a file; a path may stand
 * without its `@`.
 *
 * @param fromBinary makes a text of the bytes of a file that is neither a text nor a picture
 * @throws {UsageError} when there is no such file, no text, or no QR code in a picture
 */
export async function readGiven(
  argument: string,
  maxLength: number,
  fromBinary?: (bytes: Buffer) => string,
): Promise<string> {
  const path = pathOf(argument)
  const bytes = path === undefined ? undefined : readFile(path)
  const text =
    bytes === undefined ? argument : isPicture(bytes) ? await readPicture(bytes) : toText(bytes, fromBinary)
  if (text.trim() === '') throw new UsageError('There is nothing to read: the text is empty.')
  if (text.length > maxLength)
    throw new UsageError(`The text is longer than ${maxLength.toLocaleString('en')} characters.`)
  return text
}

/** The text of the QR code in a picture, a PNG or a JPEG. @throws {UsageError} */
export function readPictureAt(path: string): Promise<string> {
  return readPicture(readFile(path))
}

function readFile(path: string): Buffer {
  try {
    return readBytes('file', `@${path}`, maxPictureBytes)
  } catch (error) {
    // The file is an argument, not a flag.
    throw error instanceof UsageError
      ? new UsageError(error.message.replace(/^--file: t/, 'T').replace(/^--file: /, ''))
      : error
  }
}

/** The file that an argument names. */
function pathOf(argument: string): string | undefined {
  if (argument === '-') return argument
  if (argument.startsWith('@')) return argument.slice(1)
  if (isLongText(argument) || isUrl(argument)) return undefined
  if (existsSync(argument)) return argument
  if (endsAsFile(argument) && !/^[\w+/=-]{60,}$/.test(argument))
    throw new UsageError(`There is no file ${safeLine(argument)}.`)
  return undefined
}

function isPicture(bytes: Buffer): boolean {
  const head = bytes.subarray(0, 12).toString('latin1')
  return head.startsWith('\u0089PNG') || head.startsWith('\u00ff\u00d8\u00ff')
}

async function readPicture(bytes: Buffer): Promise<string> {
  const { readQrCode } = await import('../../src/operations/decode/picture.ts')
  try {
    return readQrCode(bytes)
  } catch (error) {
    throw error instanceof Error && error.name === 'DecodeError' ? new UsageError(`${error.message}.`) : error
  }
}

function toText(bytes: Buffer, fromBinary?: (bytes: Buffer) => string): string {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    if (!text.includes('\0')) return text
  } catch {
    // Reported below.
  }
  if (fromBinary) return fromBinary(bytes)
  throw new UsageError('This is neither text nor a picture that can be read, a PNG or a JPEG.')
}
