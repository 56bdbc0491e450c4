/** `agent oid4vc receive`: an offer of an OpenID4VCI issuer, from its text to the credential. */
import * as Flags from '@oclif/core/flags'
import type { Answer, Input } from './client/api.ts'
import type { Context, FlagValues } from './define-command.ts'
import { CommandError, UsageError } from './errors/errors.ts'
import { credentialFields } from './format/records.ts'
import { safeLine } from './format/text.ts'
import type { Incoming } from './incoming.ts'
import { repeatable, yesFlag } from './input/arguments.ts'
import { readTimeout } from './input/time.ts'
import { askText, canAsk, confirm } from './prompts/ask.ts'
import { typed } from './prompts/missing.ts'
import { changeRecord } from './wait.ts'
import { describeOffer, txCodeFault } from './format/oid4vci-offer.ts'

const route = 'POST /issue-credentials/records/openid4vci'
type Received = Answer<typeof route>

export const receiveFlags = {
  'tx-code': Flags.string({ description: 'transaction code, which the issuer gave on another channel' }),
  configuration: Flags.string({
    ...repeatable,
    description: 'which credentials to receive, if the offer is for several: the ids of their configurations',
  }),
  grant: Flags.string({
    options: ['pre-authorized_code', 'authorization_code'],
    description: 'how to get access; default: the pre-authorized code if the offer has one',
  }),
  'client-id': Flags.string({ description: 'client id of the wallet at the authorization server' }),
  copies: Flags.integer({
    min: 1,
    description: 'number of copies, each bound to a key of its own, so that presentations cannot be linked',
  }),
  certificate: Flags.string({
    description: 'issuer certificate that signs the attestations which the issuer requires: its id',
  }),
  open: Flags.boolean({ description: 'open the URL for the consent in the default browser' }),
  yes: yesFlag,
  explain: Flags.boolean({ description: 'show each request: method, URL and outcome, without secrets' }),
  timeout: Flags.string({
    description: 'how long to wait for the consent and for the credential: 30s, 10m, 2h; default: 5m',
  }),
}

type ReceiveContext = Context<object, Partial<FlagValues<typeof receiveFlags>>>

type Source = Pick<NonNullable<Input<typeof route>['body']>, 'credentialOffer' | 'credentialIssuer'>

/** Receives the credentials of an offer, as `receiveFrom` does. */
export function receiveCredential(context: ReceiveContext, { answer }: Pick<Incoming, 'answer'>) {
  return receiveFrom(context, { credentialOffer: answer.body['credentialOffer'] as string })
}

/** Receives the credentials that `--configuration` names without an offer, as `receiveFrom` does. */
export function receiveFromIssuer(context: ReceiveContext, credentialIssuer: string) {
  return receiveFrom(context, { credentialIssuer }).catch((error: Error) => {
    if (!error.message.includes('/.well-known/openid-credential-issuer')) throw error
    // It may be the URL of an offer of another agent.
    const offer = `openid-credential-offer://?credential_offer_uri=${encodeURIComponent(credentialIssuer)}`
    const chosen = context.flags.configuration?.flatMap((id) => ['--configuration', id]) ?? []
    throw Object.assign(error, { hint: `agent oid4vc receive ${typed([offer, ...chosen])}` })
  })
}

/**
 * Whether a link can be the Credential Issuer Identifier (VCI §12.2.1), which has neither query nor fragment.
 * Offers of agents are at `/o/…` and `…/offers/…`.
 */
export function canBeIssuer(link: string): boolean {
  return /^https?:[^?#]*$/.test(link) && !/\/(?:o|offers)\/[^/]+$/.test(link)
}

/**
 * Receives and accepts what is offered, and waits for its credentials. An offer that the person declines is
 * rejected.
 */
async function receiveFrom(context: ReceiveContext, source: Source): Promise<Received | Received[]> {
  const { flags, call } = context
  const offered = await call(route, {
    body: {
      ...source,
      credentialConfigurationIds: flags.configuration,
      grant: flags.grant as 'pre-authorized_code' | 'authorization_code' | undefined,
      clientId: flags['client-id'],
      copies: flags.copies,
      attestationCertificateId: flags.certificate,
    },
  })
  const { recordId } = offered
  const all = await recordsOf(context, offered)
  try {
    await consent(context, all)
    const received = [await take(context, offered)]
    for (const { recordId: id } of await recordsOf(context, offered))
      if (id !== recordId) received.push(await takeFurther(context, id))
    await explain(context, recordId)
    return received.length === 1 ? received[0]! : received
  } catch (error) {
    await explain(context, recordId)
    throw error
  }
}

/** The records of the credentials of an offer, which have one thread. */
async function recordsOf({ call }: ReceiveContext, { thid }: Received): Promise<Received[]> {
  const query = { thid, limit: 100, offset: 0 }
  const { contents } = await call('GET /issue-credentials/records', { query })
  return contents.filter(({ role }) => role === 'Holder')
}

function canAskHere({ isJson, isQuiet }: Pick<Context, 'isJson' | 'isQuiet'>): boolean {
  return canAsk({ json: isJson, quiet: isQuiet })
}

/** @throws {UsageError} when there is nobody to ask for consent, and no --yes */
export function requireConsent(
  context: Pick<Context<object, { yes?: boolean }>, 'flags' | 'isJson' | 'isQuiet'>,
): void {
  if (context.flags.yes || canAskHere(context)) return
  throw new UsageError('There is no terminal to ask for your consent: add --yes.')
}

/** Shows the offer and asks for consent. @throws {CommandError} 1 after the offer was rejected */
async function consent(context: ReceiveContext, offered: readonly Received[]): Promise<void> {
  const { flags, say, isQuiet, call } = context
  const count = offered.length
  if (!isQuiet)
    for (const [index, each] of offered.entries()) {
      if (index > 0) say('')
      for (const [name, value] of describeOffer(each)) say(`${name.padEnd(16)}  ${safeLine(value)}`)
    }
  if (flags.yes) return
  try {
    await confirm(count === 1 ? '\nReceive this credential?' : `\nReceive these ${count} credentials?`)
  } catch (error) {
    for (const { recordId } of offered)
      await call('POST /issue-credentials/records/{recordId}/reject-offer', { path: { recordId } })
    throw error
  }
}

/** Accepts the offer, and waits until the credential was received. */
export async function take(context: ReceiveContext, offered: Received): Promise<Received> {
  const { call, flags } = context
  const { recordId } = offered
  const path = { recordId }
  const isAuthorized = offered.openid4vci?.grant === 'authorization_code'
  const txCode = isAuthorized ? undefined : await txCodeOf(context, offered)
  const redirect = isAuthorized ? await authorize(context, recordId) : undefined
  return changeRecord({ ...context, flags: { ...flags, wait: '' } }, 'credential', {
    until: 'CredentialReceived',
    change: () =>
      redirect
        ? call('POST /issue-credentials/records/{recordId}/complete-authorization', { path, body: redirect })
        : accept(context, recordId, txCode),
    print: (record) => context.print(recordId, credentialFields(record)),
    next: () => `agent credential show ${recordId}`,
  })
}

/** Waits for another credential of the same offer. */
function takeFurther(context: ReceiveContext, recordId: string): Promise<Received> {
  const { call, flags } = context
  return changeRecord({ ...context, flags: { ...flags, wait: '' } }, 'credential', {
    until: 'CredentialReceived',
    change: () => call('GET /issue-credentials/records/{recordId}', { path: { recordId } }),
    print: (record) => context.print(recordId, credentialFields(record)),
  })
}

/**
 * Accepts the offer. After a refused transaction code the record waits, so the error names the command for
 * another attempt.
 */
async function accept({ call }: ReceiveContext, recordId: string, txCode: string | undefined) {
  try {
    return await call('POST /issue-credentials/records/{recordId}/accept-offer', {
      path: { recordId },
      body: { txCode },
    })
  } catch (error) {
    if (txCode === undefined) throw error
    throw Object.assign(error as Error, { hint: `agent credential accept ${recordId} --tx-code <code>` })
  }
}

async function txCodeOf(
  context: ReceiveContext,
  { openid4vci, recordId }: Received,
): Promise<string | undefined> {
  const given = context.flags['tx-code']
  const wanted = openid4vci?.txCode
  if (!wanted || given !== undefined) return given
  if (!canAskHere(context))
    throw new UsageError(
      'The offer requires the transaction code that the issuer gave: add --tx-code.',
      `agent credential accept ${recordId} --tx-code <code>`,
    )
  const about = wanted.description === undefined ? '' : ` (${safeLine(wanted.description)})`
  return askText(`Transaction code${about}`, { check: (text) => txCodeFault(wanted, text) })
}

/** The parameters of the redirect after the person's consent in a browser. */
async function authorize({ call, say, flags }: ReceiveContext, recordId: string) {
  const { openRedirect } = await import('./redirect.ts')
  await using receiver = await openRedirect({
    path: '/callback',
    timeoutMs: readTimeout(flags),
    says: {
      accepted: 'The issuer has your consent.',
      refused: 'The issuer has refused, or you have declined.',
    },
    late: new CommandError('Timed out: the browser did not come back with your consent.', 6),
  })
  const { openid4vci } = await call('POST /issue-credentials/records/{recordId}/begin-authorization', {
    path: { recordId },
    body: { redirectUri: receiver.url },
  })
  const { authorizationUrl: url, authorizationState: state } = openid4vci ?? {}
  if (url === undefined || state === undefined)
    throw new CommandError('The agent returned no URL for the consent.', 5)
  const receiving = receiver.receive(state)
  say(`\nOpen this URL in a browser on this machine, and consent there:\n${safeLine(url)}`)
  if (flags.open) {
    const { openLink } = await import('./qr/open-link.ts')
    const reason = await openLink(url)
    if (reason !== undefined) say(`The browser was not opened: ${reason}.`)
  }
  const { searchParams } = await receiving
  const optional = (name: string) => searchParams.get(name) ?? undefined
  return {
    state,
    code: optional('code'),
    iss: optional('iss'),
    error: optional('error'),
    errorDescription: optional('error_description'),
  }
}

/** Prints the requests of the flow. */
async function explain({ flags, call, say }: ReceiveContext, recordId: string): Promise<void> {
  if (!flags.explain) return
  const path = { recordId }
  const { openid4vci } = await call('GET /issue-credentials/records/{recordId}', { path })
  say('\nRequests to the issuer:')
  for (const { method, url, outcome } of openid4vci?.calls ?? [])
    say(`  ${method.padEnd(4)} ${safeLine(url)}  ${safeLine(outcome)}`)
}
