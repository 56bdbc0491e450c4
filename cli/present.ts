/**
 * The answer to a proof request that the wallet has received, of DIDComm or of OpenID4VP: shows who asks and
 * what would be disclosed, asks for consent, presents, and waits for the outcome.
 */
import * as Flags from '@oclif/core/flags'
import { describeCandidates } from './client/candidates.ts'
import type { Context } from './define-command.ts'
import { CommandError, UsageError } from './errors/errors.ts'
import { verifierFields } from './format/dcql.ts'
import {
  candidatesTable,
  findMisfit,
  presentCommands,
  proofRequestText,
  unanswered,
  type Candidates,
} from './format/proof-request.ts'
import { presentationFields } from './format/proofs.ts'
import { safeLine, shortDid } from './format/text.ts'
import { repeatable } from './input/arguments.ts'
import { canAsk, confirm } from './prompts/ask.ts'
import { askCandidates } from './prompts/questions.ts'
import { type Records, waitForRecord } from './wait.ts'

type Proof = Records['proof']
type Candidate = Candidates['candidates'][number]

export const credentialFlag = Flags.string({
  ...repeatable,
  description: 'record id of a held credential; repeat it if the request asks for several',
})

export type PresentFlags = {
  credential?: string[] | undefined
  yes: boolean
  explain: boolean
  timeout?: string | undefined
}

/** @throws {CommandError} 1 if the person declines, 3 if no credential fits, 5 if the verifier refuses */
export async function presentTo(context: Context<object, PresentFlags>, received: Proof): Promise<Proof> {
  const { flags, call, log, print, say } = context
  const path = { presentationId: received.presentationId }
  const from = received.openid4vpRequest?.steps.length ?? 0
  explain(context, received, 0)
  const found = await call('GET /present-proof/presentations/{presentationId}/candidates', { path })
  explainOthers(context, found)
  const chosen = flags.credential ?? (await choose(context, received, found))
  const misfit = findMisfit(found, chosen)
  if (flags.credential && misfit !== undefined) say(`Warning: ${misfit}.`)
  for (const line of consentLines(received, found, chosen)) say(line)
  if (!flags.yes) await askConsent(context, path)
  const { record, failure } = await waitForRecord(
    // Over DIDComm, a refusal comes after the presentation was sent.
    { ...context, flags: { ...flags, wait: received.openid4vpRequest ? 'PresentationSent' : '' } },
    'proof',
    'PresentationSent',
    () =>
      call('PATCH /present-proof/presentations/{presentationId}', {
        path,
        body: { action: 'request-accept', proofId: [...new Set(chosen)] },
      }),
  )
  explain(context, record, from)
  const digitalCredential = record.openid4vpRequest?.digitalCredential
  if (digitalCredential) log(JSON.stringify(digitalCredential))
  else print(record.presentationId, presentationFields(record))
  if (failure) throw failure
  return record
}

/** Prints the steps of the wallet from an index. */
function explain(
  { flags, say }: Context<object, { explain: boolean }>,
  { openid4vpRequest }: Proof,
  from: number,
): void {
  if (!flags.explain) return
  for (const { step, detail } of openid4vpRequest?.steps.slice(from) ?? [])
    say(`  ${step}: ${safeLine(detail)}`)
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
async function choose(
  context: Context,
  { presentationId: id, openid4vpRequest }: Proof,
  found: Candidates,
): Promise<string[]> {
  if (found.choice) return found.choice
  if (openid4vpRequest ? !found.answer : isUnanswered(found)) throw await nothingFits(context, id, found)
  if (canAsk({ json: context.isJson, quiet: context.isQuiet })) return askCandidates(context.call, found)
  const { candidates } = found
  throw new UsageError(
    `${candidates.length} credentials answer the request; name one for each query with --credential:\n\n${candidatesTable(await describeCandidates(context.call, candidates), context.width)}`,
    ...presentCommands(id, found).slice(0, 1),
  )
}

function isUnanswered({ candidates, lines }: Candidates): boolean {
  return candidates.length === 0 || unanswered(lines) !== undefined
}

function consentLines(
  record: Proof,
  { candidates, others }: Candidates,
  chosen: readonly string[],
): string[] {
  const disclosed = [...candidates, ...others]
    .filter(({ recordId }) => chosen.includes(recordId))
    .flatMap(disclosureOf)
    .map((text) => `  discloses  ${text}`)
  const fields = verifierFields(record).filter(([, value]) => value !== undefined)
  return [
    'A verifier requests a presentation:',
    ...fields.map(([name, value]) => `  ${name.padEnd(10)} ${safeLine(String(value))}`),
    `  asks for   ${proofRequestText(record)}`,
    ...disclosed,
  ]
}

/** The claims that a credential discloses, in words: for a query by its answers, otherwise by its format. */
function disclosureOf({ recordId, discloses, claims, credentialFormat, issuer }: Candidate): string[] {
  if (discloses)
    return discloses.map(({ credentialId, claims: shown }) => {
      const names = shown.includes('*') ? 'all claims' : shown.map(safeLine).join(', ') || 'no further claims'
      return `${names} of the credential ${recordId} (${safeLine(credentialId)})`
    })
  const names = claims.map(safeLine).join(', ') || 'none'
  const what = credentialFormat === 'JWT' ? `all claims (${names})` : 'what is asked for'
  return [`${what} of the credential ${recordId}, issued by ${shortDid(safeLine(issuer))}`]
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

async function nothingFits(
  { call, width }: Context,
  id: string,
  { others }: Candidates,
): Promise<CommandError> {
  const why =
    others.length === 0
      ? ': it holds none'
      : `:\n\n${candidatesTable(await describeCandidates(call, others), width)}`
  return new CommandError(
    `No credentials of this wallet answer the request${why}`,
    3,
    `agent proof reject ${id}`,
  )
}
