/** The page of an OpenID4VCI offer: what is offered and by whom, and its link as a QR code and as a button. */
import type { Texts } from './english.ts'
import { html, line, type Html } from './html.ts'
import type { Page } from './page.ts'
import { copyFields, maxLineLength, moment, pageEnd, steps, walletCode, walletLink } from './parts.ts'

export type OfferLink = {
  /** The link for wallets. It refers to the offer, and does not contain the code of the grant. */
  link: string
  host: string
  credentials: readonly { configurationId: string; claims: readonly string[] }[]
  /** Whether the wallet asks for a transaction code. */
  hasTxCode: boolean
  /** Absent for an offer without end. */
  endsAt?: Date
  /** False if the URL of the page does not tell when the offer is redeemed. */
  isLive?: boolean
}

export function offerPage(texts: Texts, offered: OfferLink): Page {
  const { link, host, credentials, hasTxCode, endsAt, isLive = true } = offered
  const [words, invitation] = [texts.offer, texts.invitation]
  return {
    title: invitation.offer.title,
    isWide: true,
    ...(endsAt && { isLive, staleAfterMs: Math.max(0, endsAt.getTime() - Date.now()) }),
    content: html`<header>
        <p class="kind">${invitation.offer.kind}</p>
        <h1>${invitation.offer.title}</h1>
        <p>${words.text(html`<bdi>${host}</bdi>`)}</p>
        ${offeredList(texts, credentials)} ${walletLink(texts, link)}
      </header>
      ${walletCode(texts, link, words.code)}
      <div>
        ${steps(texts, [
          invitation.open,
          ...(hasTxCode ? [words.txCode] : []),
          words.check(html`<bdi>${host}</bdi>`),
          invitation.offer.last,
        ])}
        <aside class="note"><p>${words.warning}</p></aside>
        ${copyFields(texts, [{ label: texts.copyLink, text: link }])}
        ${endsAt && pageEnd(texts, invitation.until(moment(texts, endsAt)), isLive)}
      </div>`,
  }
}

/** The page of a delivered offer. Only its button makes the link for the wallet. */
export function deliveredPage(
  texts: Texts,
  { host, credentials, endsAt }: Pick<OfferLink, 'host' | 'credentials'> & { endsAt: Date },
): Page {
  const [words, invitation] = [texts.offer, texts.invitation]
  return {
    title: invitation.offer.title,
    // The form is sent to the URL of the page.
    formTarget: '',
    content: html`<header>
        <p class="kind">${invitation.offer.kind}</p>
        <h1>${invitation.offer.title}</h1>
        <p>${words.text(html`<bdi>${host}</bdi>`)}</p>
        ${offeredList(texts, credentials)}
      </header>
      <form method="post">
        <p class="buttons"><button>${words.get}</button></p>
      </form>
      <aside class="note"><p>${words.delivered}</p></aside>
      ${pageEnd(texts, invitation.until(moment(texts, endsAt)), false)}`,
  }
}

/** The credentials of an offer, and their claims. */
function offeredList(texts: Texts, credentials: OfferLink['credentials']): Html {
  return html`<dl>
    ${credentials.map(
      ({ configurationId, claims }) =>
        html`<div>
            <dt>${texts.consent.credential}</dt>
            <dd>${line(configurationId, maxLineLength)}</dd>
          </div>
          ${
            claims.length === 0
              ? undefined
              : html`<div>
                  <dt>${texts.consent.claims}</dt>
                  <dd>${line(claims.join(', '), 1_000)}</dd>
                </div>`
          }`,
    )}
  </dl>`
}
