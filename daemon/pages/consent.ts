/**
 * The page of the authorization endpoint of an OpenID4VCI issuer: asks a person whether a wallet may get a
 * credential, or several.
 */
import type { Texts } from './english.ts'
import { html, line, type Html } from './html.ts'
import type { Page } from './page.ts'
import { cardImage, maxLineLength, row } from './parts.ts'

/** `card` is the `data:` URL of a picture. */
export type ShownCredential = { name: string; claims: readonly string[]; card: string | undefined }

export type ConsentLink = {
  /** The field `request` of the form. */
  sealed: string
  /** Where the answer goes: https, http of this machine, or the scheme of an app. */
  redirectUri: string
  /** The host of the issuer, and the DID or the subject of the certificate that signs. */
  host: string
  issuer: string | undefined
  /** The name that the issuer gives itself. Nothing verifies it. */
  issuerName: string | undefined
  credentials: readonly ShownCredential[]
  /** The name of the person who logged in. */
  person: string | undefined
  /** Whether the page asks for a presentation, which comes before the consent. */
  needsPresentation: boolean
  txCode: { description: string | undefined; isWrong: boolean; guesses: number } | undefined
}

export function consentPage({ consent: words }: Texts, link: ConsentLink): Page {
  const { sealed, redirectUri, host, issuer, issuerName, credentials, person, needsPresentation } = link
  const txCode = needsPresentation ? undefined : link.txCode
  const names = credentials.map(({ name }) => name)
  const { protocol, origin } = new URL(redirectUri)
  return {
    title: words.title,
    status: txCode?.isWrong ? 400 : 200,
    // Browsers check the target of a redirect after a form too (CSP 3 §6.4.2.1).
    formTarget: protocol === 'https:' ? origin : protocol,
    content: html`<header>
        <p class="kind">${words.kind}</p>
        <h1>${words.title}</h1>
        <p>${words.text(html`<bdi>${host}</bdi>`)}</p>
      </header>
      <dl>
        ${row(words.credential, names.join(', '))} ${row(words.issuerName, issuerName)}
        ${row(words.issuer, issuer)} ${row(words.person, person)} ${row(words.wallet, hostOf(redirectUri))}
      </dl>
      ${credentials.map(
        ({ name, claims, card }) =>
          html`${cardImage(card)}
            <h2>${credentials.length === 1 ? words.claims : line(name, maxLineLength)}</h2>
            <ul>
              ${claims.map((claim) => html`<li>${line(claim, maxLineLength)}</li>`)}
            </ul>`,
      )}
      ${needsPresentation ? html`<p>${words.presentation.text}</p>` : undefined}
      <form method="post" action="authorize">
        <input type="hidden" name="request" value="${sealed}" />
        ${txCode && codeField(words, txCode)}
        <p class="buttons">
          ${
            needsPresentation
              ? html`<button formaction="presentation">${words.presentation.begin}</button>`
              : html`<button name="decision" value="accept">${words.accept}</button>`
          }
          <button name="decision" value="decline" formnovalidate>${words.decline}</button>
        </p>
      </form>
      <aside class="note"><p>${words.warning}</p></aside>`,
  }
}

/** A request that cannot be answered. The link tells the wallet, if the person follows it. */
export function refusalPage(
  { consent }: Texts,
  { reason, target, of }: { reason: string; target: string; of: 'request' | 'log-in' | 'presentation' },
): Page {
  const { open } = consent.refused
  const refused = {
    request: consent.refused,
    'log-in': consent.notLoggedIn,
    presentation: consent.notPresented,
  }[of]
  return {
    title: refused.title,
    status: 400,
    content: html`<h1>${refused.title}</h1>
      <p>${refused.text}</p>
      <p><a href="${target}">${open(html`<bdi>${hostOf(target)}</bdi>`)}</a></p>
      <footer><p lang="en">${line(reason, 400)}</p></footer>`,
  }
}

/** A return from a log-in or a presentation that this browser has not begun, or that took too long. */
export function lostPage(
  { consent }: Texts,
  what: 'lostLogIn' | 'lostPresentation',
  { message }: { message: string },
): Page {
  const { title, text } = consent[what]
  return {
    title,
    status: 400,
    content: html`<h1>${title}</h1>
      <p>${text}</p>
      <footer><p lang="en">${line(message, 400)}</p></footer>`,
  }
}

/** Where a redirect URI leads, as a person can read it: its origin, or the scheme of an app. */
function hostOf(redirectUri: string): string {
  const { protocol, origin } = new URL(redirectUri)
  return protocol === 'https:' || protocol === 'http:' ? origin : protocol
}

function codeField(
  words: Texts['consent'],
  { description, isWrong, guesses }: NonNullable<ConsentLink['txCode']>,
): Html {
  const fault = isWrong ? html`<p id="fault" role="alert">${words.wrong(guesses)}</p>` : undefined
  const hint = line(description, 300) ?? words.codeHint
  return html`<label for="tx_code">${words.code}</label>
    <p id="hint" class="soft">${hint}</p>
    ${fault}
    <input
      id="tx_code"
      name="tx_code"
      inputmode="numeric"
      autocomplete="one-time-code"
      required
      aria-describedby="hint${isWrong ? ' fault' : ''}"
      ${isWrong ? html`aria-invalid="true"` : undefined}
    />`
}
