import * as Flags from '@oclif/core/flags'
import { defineLocalCommand } from '../cli/define-command.ts'
import { UsageError } from '../cli/errors/errors.ts'
import { decodedText } from '../cli/format/decoded.ts'
import { optionalArgument } from '../cli/input/arguments.ts'
import { readGiven, readPictureAt } from '../cli/input/given.ts'
import { askText, canAsk } from '../cli/prompts/ask.ts'
import type { Decoded } from '../src/operations/decode/decoded.ts'
import { fetchedMethods, ledgerMethods, namesOf } from '../src/definitions/did-names.ts'

/** The longest text, with its spaces, in characters. */
const maxLength = 4_000_000

export default defineLocalCommand({
  summary: 'Decode a token, an offer, a request, an invitation, a DID, …: anything',
  description:
    'Shows what a text is, what it contains, and which signatures and digests can be checked with the text alone. Reads JWT, SD-JWT with key binding, JWE (its header), offers and metadata of OpenID4VCI, requests of OpenID4VP, DCQL, status lists, invitations and messages of DIDComm, DIDs, and certificates. Needs no wallet, and makes no connection without --online; only for what is on a ledger, that asks the daemon. Exits with 8 if a check fails, with 2 if the text cannot be read.',
  examples: [
    'agent decode eyJhbGciOi…',
    'agent decode "openid-credential-offer://?credential_offer=…"',
    'pbpaste | agent decode',
    'agent decode credential.jwt --json',
    'agent decode qr.png',
    'agent decode did:web:example.org --online',
  ],
  args: { text: optionalArgument('the text; a file or the picture of a QR code, or - for standard input') },
  flags: {
    file: Flags.string({ description: 'read the text from this file', exclusive: ['image'] }),
    image: Flags.string({ description: 'read the QR code in this picture, a PNG or a JPEG' }),
    online: Flags.boolean({
      description: `retrieve what the text names only by its URL, documents of ${namesOf(fetchedMethods, 'and')}, and by the daemon those of ${namesOf(ledgerMethods, 'and')}`,
    }),
  },
  async run({ args, flags, width, paint, log, isJson }) {
    const { decodeText } = await import('../src/operations/decode/index.ts')
    try {
      const text =
        flags.image === undefined
          ? await readGiven(await named(args.text, flags.file, isJson), maxLength)
          : await readPictureAt(flags.image)
      const { resolveByDaemon } = await import('../cli/client/resolve-did.ts')
      const decoded = await decodeText(text, { isOnline: flags.online, resolveOnLedger: resolveByDaemon })
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
