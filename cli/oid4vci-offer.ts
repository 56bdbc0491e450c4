/** `agent credential offer --oid4vci`: offers a credential to wallets of OpenID4VCI, by a URL. */
import type { Answer, Input } from './client/api.ts'
import { type Configuration, listConfigurations } from './client/configurations.ts'
import type { Context } from './define-command.ts'
import { UsageError } from './errors/errors.ts'
import { credentialFields } from './format/records.ts'
import { safeLine } from './format/text.ts'
import { whenAhead } from './format/time.ts'
import { answerLine, draw, type Scannable } from './invitation.ts'
import { readTimeout } from './input/time.ts'
import type { Question } from './prompts/missing.ts'
import { whichIssuingDid } from './prompts/questions.ts'
import { chooseQr, type QrFlags } from './qr/flags.ts'
import { naming } from './templates.ts'
import { changeRecord, type WaitFlags } from './wait.ts'

const route = 'POST /oid4vci/credential-offers'
const ofIssuer = 'POST /oid4vci/issuers/{issuerId}/credential-offers'
type Offer = Answer<typeof route>
type Body = NonNullable<Input<typeof route>['body']>
type Offered = Omit<Body, 'byReference' | 'credentialConfigurationId'> & {
  /** None for the only one. With several, the claims are by configuration. */
  configurations: readonly string[]
}

/** Asks for the DID that issues. An offer to a wallet needs none: it takes the only one, or makes it. */
export const whichSigner: Question = {
  unless: ['definition', 'oid4vci'],
  ask: (asking) => whichIssuingDid.ask(asking),
}

/** Asks which credential a wallet gets, as `--oid4vci` and `--configuration`, if there is a choice. */
export const whichConfiguration: Question = {
  unless: ['type', 'template'],
  async ask({ call, given, terminal }) {
    const { oid4vci } = given
    if (typeof oid4vci !== 'string') return []
    const issuer = oid4vci.replace(/^--oid4vci=/, '')
    const options = (await listConfigurations(call)).filter(
      ({ issuerId }) => issuer === '' || issuerId === issuer,
    )
    if (options.length === 0) return []
    const { askChoice } = await import('./prompts/ask.ts')
    const toChoice = (option: Configuration) => ({ value: option, name: option.label, hint: option.detail })
    const chosen =
      options.length === 1
        ? options[0]!
        : await askChoice('Which credential is offered?', options.map(toChoice), terminal)
    return [`--oid4vci=${chosen.issuerId}`, `--configuration=${chosen.configurationId}`]
  },
}

/**
 * Makes an offer and prints its URL: short, or the whole offer with `--long`. With `--wait`, prints the
 * record of each credential once it has reached the state.
 */
export async function offerToWallet(
  context: Context<object, WaitFlags & QrFlags>,
  offered: Offered,
): Promise<unknown> {
  const { flags, call, isQuiet, isJson, logJson, print } = context
  const untilMs = flags.wait === undefined ? Infinity : Date.now() + readTimeout(flags)
  const show = (recordId: string) => call('GET /issue-credentials/records/{recordId}', { path: { recordId } })
  const qr = chooseQr(flags)
  let offer: Offer
  const record = await changeRecord(context, 'credential', {
    until: 'CredentialSent',
    async change() {
      offer = await naming(offered.template ?? undefined, () =>
        makeOffer(call, { ...offered, byReference: offered.deliver ? undefined : !qr.isLong }),
      )
      if (offered.deliver) printDelivery(context, offer, offered.deliver)
      else printOffer(context, offer)
      if (isJson && flags.wait !== undefined) logJson(offer)
      return show(offer.recordId)
    },
    ...(!offered.deliver && {
      drawCode: ({ recordId }: { recordId: string }) => draw(context, recordId, toScannable(offer), qr),
    }),
    print(made) {
      if (flags.wait !== undefined && !isQuiet) print(made.recordId, credentialFields(made))
    },
    next: ({ recordId }) => `agent credential show ${recordId}`,
  })
  if (flags.wait === undefined) return offer!
  const records = [record]
  for (const { recordId } of offer!.records ?? []) {
    if (recordId === record.recordId) continue
    const timeout = `${Math.max(1, Math.ceil((untilMs - Date.now()) / 1_000))}s`
    const rest = { ...context, flags: { ...flags, timeout } }
    records.push(
      await changeRecord(rest, 'credential', { until: 'CredentialSent', change: () => show(recordId) }),
    )
  }
  return records.length === 1 ? record : records
}

/** An offer of configurations that are named, or in one step. */
async function makeOffer(
  call: Context['call'],
  { configurations, ...body }: Offered & { byReference: boolean | undefined },
): Promise<Offer> {
  const [credentialConfigurationId, ...others] = configurations
  if (others.length > 0) return makeOfferOfSeveral(call, { configurations, ...body })
  const { issuerId, type, template, format, ...offered } = body
  const isOneStep = [type, template, format].some((each) => each !== undefined)
  if (isOneStep || !issuerId || credentialConfigurationId === undefined)
    return call(route, { body: { ...body, credentialConfigurationId } })
  const path = { issuerId }
  const offer = await call(ofIssuer, { path, body: { ...offered, credentialConfigurationId } })
  return { ...offer, issuerId, credentialConfigurationId, made: [] }
}

/** An offer of several credentials of an issuer that exists. */
async function makeOfferOfSeveral(
  call: Context['call'],
  { configurations, issuerId: given, claims: all, ...body }: Offered & { byReference: boolean | undefined },
): Promise<Offer> {
  const { template, format, type: _, issuingDID, validityPeriod, automaticIssuance, ...offered } = body
  if (template !== undefined || format !== undefined)
    throw new UsageError('--template and --format are for one credential: leave them out.')
  const terms = { issuingDID, validityPeriod, automaticIssuance }
  const credentials = configurations.flatMap((credentialConfigurationId) =>
    claimsFor(all, credentialConfigurationId).map((claims) => ({
      credentialConfigurationId,
      claims,
      ...terms,
    })),
  )
  const issuerId = given ?? (await onlyIssuer(call))
  const offer = await call(ofIssuer, { path: { issuerId }, body: { ...offered, credentials } })
  return { ...offer, issuerId, credentialConfigurationId: configurations[0]!, made: [] }
}

/** The claims of a configuration: an object, or an array for several credentials of it. */
function claimsFor(all: Offered['claims'], configuration: string): Offered['claims'][] {
  if (!all) return [undefined]
  const own = all[configuration]
  const each = Array.isArray(own) ? own : [own]
  const isObject = (value: unknown) => typeof value === 'object' && value !== null && !Array.isArray(value)
  if (each.length > 0 && each.every(isObject)) return each as Offered['claims'][]
  throw new UsageError(
    `--claims has no object ${JSON.stringify(configuration)}: with several configurations, its members are theirs, as in {"${configuration}": {"name": "Alice"}}.`,
  )
}

async function onlyIssuer(call: Context['call']): Promise<string> {
  const { contents } = await call('GET /oid4vci/issuers', { query: { limit: 2, offset: 0 } })
  const [issuer, other] = contents
  if (issuer && !other) return issuer.id
  throw new UsageError(
    issuer
      ? 'The wallet has several issuers: name one, as in --oid4vci <issuer id>.'
      : 'The wallet has no issuer yet.',
    issuer ? 'agent issuer list' : 'agent issuer create',
  )
}

const kinds: Record<Offer['made'][number]['kind'], string> = {
  did: 'DID',
  issuer: 'issuer',
  certificate: 'certificate',
  schema: 'schema',
  configuration: 'configuration',
}

/** Prints the parts that the offer needed and made, such as an issuer or a schema. */
function printMade({ say, isQuiet, isJson }: Context, { made, issuerId }: Offer): void {
  if (isQuiet || isJson || made.length === 0) return
  const width = Math.max(...made.map(({ kind }) => kinds[kind].length))
  const lines = made.map(
    ({ kind, id, name }) => `  ${kinds[kind].padEnd(width)}  ${id}${name === undefined ? '' : `  ${name}`}`,
  )
  say(`Made, because it was missing:\n${lines.join('\n')}`)
  if (made.some(({ kind }) => kind === 'issuer'))
    say(`Wallets show the issuer’s name: agent issuer update ${issuerId} --name <name>`)
  const certificate = made.find(({ kind }) => kind === 'certificate')
  if (certificate)
    say(
      `Wallets and verifiers must trust the authority of the certificate: agent issuer-cert show ${certificate.id} --root > root.pem, and agent trust add root.pem`,
    )
  say('')
}

/** The id and the transaction code with `--quiet`, because the code is not shown again. */
function printOffer(context: Context, offer: Offer): void {
  const { log, say, isQuiet } = context
  const { credentialOffer, records, expiresAt, txCode } = offer
  printMade(context, offer)
  const ids = records.map(({ recordId }) => recordId)
  log(isQuiet ? [...ids, txCode].filter((each) => each !== undefined).join('\n') : credentialOffer)
  if (isQuiet) return
  const named = records.map(({ recordId, credentialConfigurationId: name }) =>
    records.length === 1 ? recordId : `${recordId}  ${safeLine(name)}`,
  )
  for (const [index, each] of named.entries()) say(`${index === 0 ? '\n' : ''}credential        ${each}`)
  say(`expires           ${whenAhead(expiresAt, Date.now())}`)
  if (txCode !== undefined)
    say(`transaction code  ${txCode}   (not shown again; give it to the holder on another channel)`)
  say(answerLine(credentialOffer))
}

/** The link and the code are in the messages, so only the records are printed. */
function printDelivery(context: Context, offer: Offer, { to, code }: NonNullable<Offered['deliver']>): void {
  const { log, say, isQuiet } = context
  const { records, expiresAt } = offer
  printMade(context, offer)
  for (const { recordId } of records) log(recordId)
  if (isQuiet) return
  say(`expires           ${whenAhead(expiresAt, Date.now())}`)
  say(
    `Webhooks that deliver send the link to ${safeLine(to)}${code ? `, the code to ${safeLine(code)}` : ''}.`,
  )
}

/** The page of an offer by reference is at its URL. */
function toScannable({ credentialOffer: url, txCode }: Offer): Scannable {
  const { searchParams } = new URL(url)
  const page = searchParams.get('credential_offer_uri')
  const server =
    page ??
    (JSON.parse(searchParams.get('credential_offer')!) as { credential_issuer: string }).credential_issuer
  const note = server.startsWith('http:') ? 'Most wallets require https.' : undefined
  const secret = txCode === undefined ? undefined : `transaction code ${txCode}`
  const link = { text: url, code: url, note, secret, isShownOnce: true }
  return { ...link, ...(page === null ? { server } : { page }) }
}
