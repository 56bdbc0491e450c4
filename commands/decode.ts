import * as Flags from '@oclif/core/flags'
import { defineLocalCommand } from '../cli/define-command.ts'
import { UsageError } from '../cli/errors/errors.ts'
import { decodedText } from '../cli/format/decoded.ts'
import { optionalArgument } from '../cli/input/arguments.ts'
import { readGiven, readPictureAt } from '../cli/input/given.ts'
import { askText, canAsk } from '../cli/prompts/ask.ts'
import type { Decoded } from '../src/operations/decode/decoded.ts'
import { toBase64url } from '../src/foundation/bytes.ts'
import { fetchedMethods, ledgerMethods, namesOf } from '../src/definitions/did-names.ts'

/** The longest text, with its spaces, in characters. */
const maxLength = 4_000_000

export default defineLocalCommand({
  summary: 'Decode a token, an offer, a request, an invitation, a DID, …: anything',
  description:
    'Shows what a text is, what it contains, and which signatures and digests can be checked with the text alone. Reads JWT, SD-JWT with key binding, ISO mdoc (base64url, hex, or a file of bytes), JWE (its header), offers and metadata of OpenID4VCI, requests of OpenID4VP, DCQL, status lists, invitations and messages of DIDComm, DIDs, and certificates. Needs no wallet, and makes no connection without --online; only for what is on a ledger, that asks the daemon. Exits with 8 if a check fails, with 2 if the text cannot be read.',
  examples: [
    'agent decode eyJhbGciOi…',
    'agent decode "openid-credential-offer://?credential_offer=…"',
    'pbpaste | agent decode',
    'agent decode credential.jwt --json',
    'agent decode qr.png',
    'agent decode presentation.cbor --request request.jwt',
    'agent decode mdoc.cbor --cbor',
    'agent decode did:web:example.org --online',
  ],
  args: { text: optionalArgument('the text; a file or the picture of a QR code, or - for standard input') },
  flags: {
    file: Flags.string({ description: 'read the text from this file', exclusive: ['image'] }),
    image: Flags.string({ description: 'read the QR code in this picture, a PNG or a JPEG' }),
    cbor: Flags.boolean({
      description: 'print CBOR in diagnostic notation, with the offset of each item',
    }),
    transcript: Flags.string({
      description: 'transcript of the session of an mdoc, which its device signed: hex, base64url or @file',
      exclusive: ['request'],
    }),
    request: Flags.string({
      description:
        'request that an mdoc answers, from which the transcript follows: @file, its text or its URL',
    }),
    origin: Flags.string({
      description:
        'origin of the page that called the Digital Credentials API, if the request does not have it',
    }),
    online: Flags.boolean({
      description: `retrieve what the text names only by its URL, documents of ${namesOf(fetchedMethods, 'and')}, and by the daemon those of ${namesOf(ledgerMethods, 'and')}`,
    }),
  },
  async run({ args, flags, width, paint, log, isJson }) {
    const { decodeText } = await import('../src/operations/decode/index.ts')
    try {
      const text =
        flags.image === undefined
          ? await read(await named(args.text, flags.file, isJson))
          : await readPictureAt(flags.image)
      const { online: isOnline, cbor: asCbor, transcript, request, origin } = flags
      const session = {
        transcript: transcript === undefined ? undefined : await read(transcript),
        request: request === undefined ? undefined : await read(request),
        origin,
      }
      const { resolveByDaemon: resolveOnLedger } = await import('../cli/client/resolve-did.ts')
      const decoded = await decodeText(text, { isOnline, asCbor, session, resolveOnLedger })
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

/** A text, or bytes in base64url. */
const read = (argument: string) => readGiven(argument, maxLength, toBase64url)

/** The argument for `readGiven`. At a terminal, asks for it. */
async function named(argument: string | undefined, file: string | undefined, json: boolean): Promise<string> {
  if (file !== undefined) return `@${file}`
  if (argument !== undefined) return argument === '@-' ? '-' : argument
  if (!process.stdin.isTTY) return '-'
  if (!canAsk({ json }))
    throw new UsageError('There is no text: give it as an argument, --file, --image, or on standard input.')
  return askText('Paste the text, or the name of a file:')
}

function hasFailed({ checks, parts }: Decoded): boolean {
  return checks.some(({ result }) => result === 'failed') || parts.some(hasFailed)
}
