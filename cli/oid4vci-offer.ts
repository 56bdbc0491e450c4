/** `agent credential offer --oid4vci`: offers a credential to wallets of OpenID4VCI, by a URL. */
import type { Answer, Input } from './client/api.ts'
import { type Configuration, listConfigurations } from './client/configurations.ts'
import type { Context } from './define-command.ts'
import { credentialFields } from './format/records.ts'
import { whenAhead } from './format/time.ts'
import { draw, type Scannable } from './invitation.ts'
import type { Question } from './prompts/missing.ts'
import { whichIssuingDid } from './prompts/questions.ts'
import { chooseQr, type QrFlags } from './qr/flags.ts'
import { changeRecord, type WaitFlags } from './wait.ts'

const route = 'POST /oid4vci/credential-offers'
type Offer = Answer<typeof route>
type Body = NonNullable<Input<typeof route>['body']>
type Offered = Omit<Body, 'byReference'>

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
 * record once it has reached the state.
 */
export async function offerToWallet(
  context: Context<object, WaitFlags & QrFlags>,
  offered: Offered,
): Promise<unknown> {
  const { flags, call, isQuiet, isJson, logJson, print } = context
  const qr = chooseQr(flags)
  let offer: Offer
  const record = await changeRecord(context, 'credential', {
    until: 'CredentialSent',
    async change() {
      offer = await makeOffer(call, { ...offered, byReference: !qr.isLong })
      printOffer(context, offer)
      if (isJson && flags.wait !== undefined) logJson(offer)
      return call('GET /issue-credentials/records/{recordId}', { path: { recordId: offer.recordId } })
    },
    drawCode: ({ recordId }) => draw(context, recordId, toScannable(offer), qr),
    print(made) {
      if (flags.wait !== undefined && !isQuiet) print(made.recordId, credentialFields(made))
    },
    next: ({ recordId }) => `agent credential show ${recordId}`,
  })
  return flags.wait === undefined ? offer! : record
}

/** An offer of a configuration that is named, or in one step. */
async function makeOffer(call: Context['call'], body: Body): Promise<Offer> {
  const { issuerId, credentialConfigurationId, type, template, format, ...offered } = body
  const isOneStep = [type, template, format].some((each) => each !== undefined)
  if (isOneStep || !issuerId || !credentialConfigurationId) return call(route, { body })
  const offer = await call('POST /oid4vci/issuers/{issuerId}/credential-offers', {
    path: { issuerId },
    body: { ...offered, credentialConfigurationId },
  })
  return { ...offer, issuerId, credentialConfigurationId, made: [] }
}

const kinds: Record<Offer['made'][number]['kind'], string> = {
  did: 'DID',
  issuer: 'issuer',
  certificate: 'certificate',
  schema: 'schema',
  configuration: 'configuration',
}

/** The id and the transaction code with `--quiet`, because the code is not shown again. */
function printOffer({ log, say, isQuiet, isJson }: Context, offer: Offer): void {
  const { credentialOffer, recordId, expiresAt, txCode, made, issuerId } = offer
  if (!isQuiet && !isJson && made.length > 0) {
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
  log(isQuiet ? [recordId, txCode].filter((each) => each !== undefined).join('\n') : credentialOffer)
  if (isQuiet) return
  say(`\ncredential        ${recordId}\nexpires           ${whenAhead(expiresAt, Date.now())}`)
  if (txCode !== undefined)
    say(`transaction code  ${txCode}   (not shown again; give it to the holder on another channel)`)
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
