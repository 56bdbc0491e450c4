/** The pages of DID requests and authentication challenges, for a person who opens their link in a browser. */
import type { Challenge } from '../../src/exchange/enterprise/authentication.ts'
import type { DidRequest } from '../../src/exchange/enterprise/onboarding.ts'
import type { Texts } from './english.ts'
import { html, line, visibleJson, type Html } from './html.ts'
import type { Page } from './page.ts'
import { copyFields, longCode, maxLineLength, moment, pageEnd, qrFigure, quoted, steps } from './parts.ts'

type Link = {
  /** When the link closes, and how many milliseconds are left. */
  endsAt: Date
  staleAfterMs: number
  /** The short URL, if the page was opened by it. Otherwise the QR code holds the document. */
  shortUrl?: string | undefined
  /** The URL for wallets of OpenID4VP, if they can answer too. */
  authorizationRequest?: string | undefined
}

export function didRequestPage(texts: Texts, didRequest: DidRequest, link: Link): Page {
  return sessionPage(texts, texts.didRequest, {
    ...link,
    ...didRequest,
    document: didRequest,
    endpoint: didRequest.onboardEndpoint,
  })
}

export function challengePage(texts: Texts, challenge: Challenge, link: Link): Page {
  return sessionPage(texts, texts.challenge, {
    ...link,
    ...challenge,
    document: challenge,
    endpoint: challenge.submissionEndpoint,
  })
}

function sessionPage(
  texts: Texts,
  words: Texts['didRequest'],
  link: Link & { document: object; from?: string | undefined; endpoint: string },
): Page {
  const { endsAt, staleAfterMs, shortUrl, authorizationRequest, document, endpoint } = link
  const from = line(link.from, maxLineLength)
  const text = visibleJson(document)
  const { host } = new URL(endpoint)
  return {
    title: from === undefined ? words.title : words.namedTitle(from),
    isWide: true,
    isLive: true,
    staleAfterMs,
    content: html`<header>
        <p class="kind">${words.kind}</p>
        <h1 class="from">${from === undefined ? words.title : words.named(quoted(texts, from))}</h1>
        <p>${words.text}</p>
      </header>
      ${qrFigure(texts, shortUrl ?? text, words.code)}
      <div>
        ${steps(texts, [texts.session.open, texts.session.check(host), words.last])}
        <aside class="note"><p>${words.warning}</p></aside>
        ${authorizationRequest === undefined ? undefined : credentialWallet(texts, authorizationRequest)}
        ${shortUrl === undefined ? undefined : longCode(texts, text, words.code)}
        ${copyFields(texts, [
          ...(shortUrl === undefined ? [] : [{ label: texts.copyLink, text: shortUrl }]),
          { label: texts.copyText, text },
          ...(authorizationRequest === undefined
            ? []
            : [{ label: texts.session.copyRequest, text: authorizationRequest }]),
        ])}
        ${pageEnd(texts, texts.session.until(moment(texts, endsAt)), true)}
      </div>`,
  }
}

/** The second way to answer: with a credential in a wallet of OpenID4VP. */
function credentialWallet(texts: Texts, authorizationRequest: string): Html {
  const words = texts.session
  return html`<details>
    <summary>${words.credential}</summary>
    <p>${words.credentialText}</p>
    ${qrFigure(texts, authorizationRequest, words.credentialCode)}
    <p><a href="${authorizationRequest}">${texts.presentation.here}</a></p>
  </details>`
}
