/** The page of an OpenID4VCI offer: what is offered and by whom, and its link as a QR code and as a button. */
import type { Texts } from './english.ts'
import { html, type Html } from './html.ts'
import type { Page } from './page.ts'
import { cardImage, copyFields, moment, pageEnd, row, steps, walletCode, walletLink } from './parts.ts'
import type { ShownCredential } from './consent.ts'

export type OfferLink = {
  /** The link for wallets. It refers to the offer, and does not contain the code of the grant. */
  link: string
  host: string
  issuerName: string | undefined
  credentials: readonly ShownCredential[]
  /** Whether the wallet asks for a transaction code. */
  hasTxCode: boolean
  /** Absent for an offer without end, which is for everyone. */
  endsAt?: Date
  /** False if the URL of the page does not tell when the offer is redeemed. */
  isLive?: boolean
}

export function offerPage(texts: Texts, offered: OfferLink): Page {
  const { link, host, hasTxCode, endsAt, isLive = true } = offered
  const [words, invitation] = [texts.offer, texts.invitation]
  return {
    title: invitation.offer.title,
    isWide: true,
    ...(endsAt && { isLive, staleAfterMs: Math.max(0, endsAt.getTime() - Date.now()) }),
    content: html`<header>
        <p class="kind">${invitation.offer.kind}</p>
        <h1>${invitation.offer.title}</h1>
        <p>${words.text(html`<bdi>${host}</bdi>`)}</p>
        ${offeredList(texts, offered)} ${walletLink(texts, link)}
      </header>
      ${walletCode(texts, link, words.code)}
      <div>
        ${steps(texts, [
          invitation.open,
          ...(hasTxCode ? [words.txCode] : []),
          words.check(html`<bdi>${host}</bdi>`),
          invitation.offer.last,
        ])}
        <aside class="note"><p>${endsAt ? words.warning : words.forEveryone}</p></aside>
        ${copyFields(texts, [{ label: texts.copyLink, text: link }])}
        ${endsAt && pageEnd(texts, invitation.until(moment(texts, endsAt)), isLive)}
      </div>`,
  }
}

/** The page of a delivered offer. Only its button makes the link for the wallet. */
export function deliveredPage(
  texts: Texts,
  offered: Pick<OfferLink, 'host' | 'issuerName' | 'credentials'> & { endsAt: Date },
): Page {
  const { host, endsAt } = offered
  const [words, invitation] = [texts.offer, texts.invitation]
  return {
    title: invitation.offer.title,
    // The form is sent to the URL of the page.
    formTarget: '',
    content: html`<header>
        <p class="kind">${invitation.offer.kind}</p>
        <h1>${invitation.offer.title}</h1>
        <p>${words.text(html`<bdi>${host}</bdi>`)}</p>
        ${offeredList(texts, offered)}
      </header>
      <form method="post">
        <p class="buttons"><button>${words.get}</button></p>
      </form>
      <aside class="note"><p>${words.delivered}</p></aside>
      ${pageEnd(texts, invitation.until(moment(texts, endsAt)), false)}`,
  }
}

/** The name of the issuer, and each credential with its name, its claims and its card. */
function offeredList(
  { consent: words }: Texts,
  { issuerName, credentials }: Pick<OfferLink, 'issuerName' | 'credentials'>,
): Html {
  return html`${credentials.map(
    ({ name, claims, card }, index) =>
      html`${cardImage(card)}
        <dl>
          ${index === 0 ? row(words.issuerName, issuerName) : undefined} ${row(words.credential, name)}
          ${row(words.claims, claims.join(', ') || undefined)}
        </dl>`,
  )}`
}
