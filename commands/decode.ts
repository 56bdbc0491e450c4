import * as Flags from '@oclif/core/flags'
import { defineLocalCommand } from '../cli/define-command.ts'
import { UsageError } from '../cli/errors/errors.ts'
import { decodedText } from '../cli/format/decoded.ts'
import { optionalArgument } from '../cli/input/arguments.ts'
import { readBytes, readText } from '../cli/input/files.ts'
import type { Decoded } from '../src/operations/decode/decoded.ts'
import { fetchedMethods, namesOf } from '../src/definitions/did-names.ts'

/** Two million characters, of at most four bytes. */
const maxTextBytes = 8_000_000

const maxPictureBytes = 50_000_000

export default defineLocalCommand({
  summary: 'Decode a token, an offer, a request, an invitation, a DID, …: anything',
  description:
    'Shows what a text is, what it contains, and which signatures and digests can be checked with the text alone. Reads JWT, SD-JWT with key binding, JWE (its header), offers and metadata of OpenID4VCI, requests of OpenID4VP, DCQL, status lists, invitations and messages of DIDComm, DIDs, and certificates. Needs no daemon and no wallet, and makes no connection without --online. Exits with 8 if a check fails, with 2 if the text cannot be read.',
  examples: [
    'agent decode eyJhbGciOi…',
    'agent decode "openid-credential-offer://?credential_offer=…"',
    'pbpaste | agent decode',
    'agent decode --file credential.jwt --json',
    'agent decode --image qr.png',
    'agent decode did:web:example.org --online',
  ],
  args: { text: optionalArgument('the text; @file, or - for standard input') },
  flags: {
    file: Flags.string({ description: 'read the text from this file', exclusive: ['image'] }),
    image: Flags.string({ description: 'read the QR code in this picture, a PNG or a JPEG' }),
    online: Flags.boolean({
      description: `retrieve what the text names only by its URL, and documents of ${namesOf(fetchedMethods, 'and')}`,
    }),
  },
  async run({ args, flags, width, paint, log }) {
    const { decodeText } = await import('../src/operations/decode/index.ts')
    try {
      const text = flags.image === undefined ? readGiven(args.text, flags.file) : await readImage(flags.image)
      const decoded = await decodeText(text, { isOnline: flags.online })
      log(decodedText(decoded, { width, paint, now: Date.now() }))
      if (hasFailed(decoded)) process.exitCode = 8
      return decoded
    } catch (error) {
      if (error instanceof Error && error.name === 'DecodeError')
        throw new UsageError(`${error.message}.`, 'agent decode --help')
      throw error
    }
  },
})

/** @throws {UsageError} when there is no text */
function readGiven(argument: string | undefined, file: string | undefined): string {
  if (file !== undefined) return readText('file', `@${file}`, maxTextBytes)
  if (argument === '-' || argument === '@-') return readText('text', '@-', maxTextBytes)
  if (argument !== undefined) return readText('text', argument, maxTextBytes)
  if (process.stdin.isTTY)
    throw new UsageError('There is no text: give it as an argument, --file, --image, or on standard input.')
  return readText('text', '@-', maxTextBytes)
}

async function readImage(path: string): Promise<string> {
  const bytes = readBytes('image', `@${path}`, maxPictureBytes)
  const { readQrCode } = await import('../src/operations/decode/picture.ts')
  return readQrCode(bytes)
}

function hasFailed({ checks, parts }: Decoded): boolean {
  return checks.some(({ result }) => result === 'failed') || parts.some(hasFailed)
}
