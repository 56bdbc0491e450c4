import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import type { Input } from '../../cli/client/api.ts'
import { type Context, defineCommand } from '../../cli/define-command.ts'
import { CommandError, UsageError } from '../../cli/errors/errors.ts'
import { verifierFields } from '../../cli/format/dcql.ts'
import {
  candidatesTable,
  findMisfit,
  presentCommands,
  proofRequestText,
  type Candidates,
} from '../../cli/format/proof-request.ts'
import { presentationFields } from '../../cli/format/proofs.ts'
import { safeLine } from '../../cli/format/text.ts'
import { repeatable, yesFlag } from '../../cli/input/arguments.ts'
import { readInput, readJson } from '../../cli/input/files.ts'
import { readTimeout } from '../../cli/input/time.ts'
import { canAsk, confirm } from '../../cli/prompts/ask.ts'
import { askCandidates } from '../../cli/prompts/questions.ts'
import { openIdLinkKind } from '../../cli/qr/link.ts'
import { type Records, waitForRecord } from '../../cli/wait.ts'

type Proof = Records['proof']
type Body = NonNullable<Input<typeof route>['body']>

export default defineCommand({
  summary: 'Answer a request of a verifier over OpenID4VP with credentials of the wallet',
  description:
    'Prints the verifier, how far it can be trusted, and the claims that would be disclosed, and asks for consent. Without a terminal, --yes is required. An answer of no tells the verifier that the request was declined (access_denied). Without --credential, presents the credential that matches each query; if several do, asks which, or lists them and exits with 2. Revoked, suspended and expired credentials are left out: --explain lists the reasons. Exits with 3 if none matches.',
  examples: [
    `agent oid4vc present 'openid4vp://?client_id=…&request_uri=…'`,
    'zbarcam --raw -1 | agent oid4vc present - --yes',
    `agent oid4vc present 'openid4vp://?…' --credential <id> --explain`,
    'agent oid4vc present request.json --origin https://shop.example --yes',
  ],
  args: {
    request: Args.string({
      required: true,
      ignoreStdin: true,
      description:
        'URL of the request, the text of its QR code, the short URL of a DID request or a challenge, or - for standard input; with --origin, a file with JSON',
    }),
  },
  flags: {
    credential: Flags.string({
      ...repeatable,
      description: 'record id of a held credential; repeat it if the request asks for several',
    }),
    origin: Flags.string({
      description:
        'origin of the page that makes a request of the Digital Credentials API (protocol and data, in JSON); prints the answer for the page',
    }),
    yes: yesFlag,
    explain: Flags.boolean({ description: 'print each request and check of the wallet' }),
    timeout: Flags.string({
      description: 'how long to wait for the verifier: 30s, 10m, 2h; default: 5m',
    }),
  },
  async run(context) {
    const { args, flags, call, log, print, say } = context
    readTimeout(flags)
    const body = readRequest(args.request, flags.origin)
    const received = await call(route, { body })
    const path = { presentationId: received.presentationId }
    explain(context, received, 0)
    const found = await call('GET /present-proof/presentations/{presentationId}/candidates', { path })
    explainOthers(context, found)
    const chosen = flags.credential ?? (await choose(context, path.presentationId, found))
    const misfit = findMisfit(found, chosen)
    if (flags.credential && misfit !== undefined) say(`Warning: ${misfit}.`)
    for (const line of consentLines(received, found, chosen)) say(line)
    if (!flags.yes) await askConsent(context, path)
    const { record, failure } = await waitForRecord(
      { ...context, flags: { ...flags, wait: 'PresentationSent' } },
      'proof',
      'PresentationSent',
      () =>
        call('PATCH /present-proof/presentations/{presentationId}', {
          path,
          body: { action: 'request-accept', proofId: [...new Set(chosen)] },
        }),
    )
    explain(context, record, received.openid4vpRequest!.steps.length)
    const { digitalCredential } = record.openid4vpRequest!
    if (digitalCredential) log(JSON.stringify(digitalCredential))
    else print(record.presentationId, presentationFields(record))
    if (failure) throw failure
    return record
  },
})

const route = 'POST /present-proof/presentations/openid4vp/requests'

/**
 * A URL, or a request of the Digital Credentials API. The daemon validates it.
 *
 * @throws {UsageError} when it is not JSON
 */
function readRequest(text: string, origin: string | undefined): Body {
  if (origin === undefined) {
    const authorizationRequest = (text === '-' ? readInput('-') : text).trim()
    if (openIdLinkKind(authorizationRequest) === 'offer')
      throw new UsageError('This is the offer of an issuer, not a request.', 'agent oid4vc receive -')
    if (/[?&]_oob=/.test(authorizationRequest))
      throw new UsageError(
        'This is an invitation of DIDComm, not a request of OpenID4VP.',
        'agent proof accept-invitation -',
      )
    return { authorizationRequest }
  }
  return { digitalRequest: readJson('request', `@${text}`) as Body['digitalRequest'], origin }
}

/** Prints the steps of the wallet from an index. */
function explain(
  { flags, say }: Context<object, { explain: boolean }>,
  { openid4vpRequest }: Proof,
  from: number,
): void {
  if (!flags.explain) return
  for (const { step, detail } of openid4vpRequest!.steps.slice(from)) say(`  ${step}: ${safeLine(detail)}`)
}

/** Prints why the other credentials of the wallet are not offered. */
function explainOthers({ flags, say }: Context<object, { explain: boolean }>, { others }: Candidates): void {
  if (!flags.explain) return
  for (const { recordId, reason = '' } of others) say(`  not offered: ${recordId}: ${safeLine(reason)}`)
}

/**
 * The credentials to present: the only ones that answer, or those that the person chooses.
 *
 * @throws {UsageError} if there is a choice and nobody to ask; {CommandError} 3 if none answers
 */
async function choose(context: Context, id: string, found: Candidates): Promise<string[]> {
  if (!found.answer) throw nothingFits(context, id, found)
  if (found.choice) return found.choice
  if (canAsk({ json: context.isJson, quiet: context.isQuiet })) return askCandidates(found)
  const { candidates } = found
  throw new UsageError(
    `${candidates.length} credentials answer the request; name one for each query with --credential:\n\n${candidatesTable(candidates, context.width)}`,
    ...presentCommands(id, found).slice(0, 1),
  )
}

function consentLines(record: Proof, { candidates }: Candidates, chosen: readonly string[]): string[] {
  const disclosed = candidates
    .filter(({ recordId }) => chosen.includes(recordId))
    .flatMap(({ recordId, discloses = [] }) =>
      discloses.map(({ credentialId, claims }) => {
        const names = claims.includes('*')
          ? 'all claims'
          : claims.map(safeLine).join(', ') || 'no further claims'
        return `  discloses  ${names} of the credential ${recordId} (${safeLine(credentialId)})`
      }),
    )
  const fields = verifierFields(record).filter(([, value]) => value !== undefined)
  return [
    'A verifier requests a presentation:',
    ...fields.map(([name, value]) => `  ${name.padEnd(10)} ${safeLine(String(value))}`),
    `  asks for   ${proofRequestText(record)}`,
    ...disclosed,
  ]
}

/** @throws {CommandError} 1 if the person declines; the verifier is told */
async function askConsent({ call }: Context, path: { presentationId: string }): Promise<void> {
  try {
    await confirm('Present this to the verifier?')
  } catch (error) {
    if (!(error instanceof CommandError) || error.exitCode !== 1) throw error
    await call('PATCH /present-proof/presentations/{presentationId}', {
      path,
      body: { action: 'request-reject' },
    })
    throw new CommandError('Declined. Nothing was presented, and the verifier is told.', 1)
  }
}

function nothingFits({ width }: Context, id: string, { others }: Candidates): CommandError {
  const why = others.length === 0 ? ': it holds none' : `:\n\n${candidatesTable(others, width)}`
  return new CommandError(
    `No credentials of this wallet answer the request${why}`,
    3,
    `agent proof reject ${id}`,
  )
}
