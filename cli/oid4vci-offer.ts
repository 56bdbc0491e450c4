/** `agent credential offer --oid4vci`: offers a credential to wallets of OpenID4VCI, by a URL. */
import type { Answer, Input } from './client/api.ts'
import type { Context } from './define-command.ts'
import { credentialFields } from './format/records.ts'
import { whenAhead } from './format/time.ts'
import { draw, type Scannable } from './invitation.ts'
import type { Question } from './prompts/missing.ts'
import { whichDid } from './prompts/questions.ts'
import { chooseQr, type QrFlags } from './qr/flags.ts'
import { changeRecord, type WaitFlags } from './wait.ts'

const route = 'POST /oid4vci/issuers/{issuerId}/credential-offers'
type Offer = Answer<typeof route>

/** Asks for the DID that issues, unless the issuer certificate of a configuration signs. */
export const whichSigner: Question = {
  unless: ['definition'],
  async ask(asking) {
    const { oid4vci: issuerId, configuration: credentialConfigId } = asking.given
    if (typeof issuerId === 'string' && typeof credentialConfigId === 'string') {
      const path = { issuerId, credentialConfigId }
      const { issuerCertificateId } = await asking.call(
        'GET /oid4vci/issuers/{issuerId}/credential-configurations/{credentialConfigId}',
        { path },
      )
      if (issuerCertificateId !== undefined) return []
    }
    return whichDid('Which DID issues it?', 'issuing-did').ask(asking)
  },
}

/**
 * Makes an offer and prints its URL: short, or the whole offer with `--long`. With `--wait`, prints the
 * record once it has reached the state.
 */
export async function offerToWallet(
  context: Context<object, WaitFlags & QrFlags>,
  issuerId: string,
  offered: Omit<Input<typeof route>['body'], 'byReference'>,
) {
  const { flags, call, isQuiet, isJson, logJson, print } = context
  const qr = chooseQr(flags)
  let offer: Offer
  const record = await changeRecord(context, 'credential', {
    until: 'CredentialSent',
    async change() {
      offer = await call('POST /oid4vci/issuers/{issuerId}/credential-offers', {
        path: { issuerId },
        body: { ...offered, byReference: !qr.isLong },
      })
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

/** The id and the transaction code with `--quiet`, because the code is not shown again. */
function printOffer({ log, say, isQuiet }: Context, offer: Offer): void {
  const { credentialOffer, recordId, expiresAt, txCode } = offer
  log(isQuiet ? [recordId, txCode].filter((each) => each !== undefined).join('\n') : credentialOffer)
  if (isQuiet) return
  say(`\ncredential        ${recordId}\nexpires           ${whenAhead(expiresAt, Date.now())}`)
  if (txCode !== undefined)
    say(`transaction code  ${txCode}   (not shown again; give it to the holder on another channel)`)
}

function toScannable({ credentialOffer: url }: Offer): Scannable {
  const { searchParams } = new URL(url)
  const server =
    searchParams.get('credential_offer_uri') ??
    (JSON.parse(searchParams.get('credential_offer')!) as { credential_issuer: string }).credential_issuer
  const note = server.startsWith('http:') ? 'Most wallets require https.' : undefined
  return { text: url, code: url, server, note }
}
