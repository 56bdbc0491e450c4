/**
 * The page of a presentation request over OpenID4VP: its code while it waits for a wallet, and then whether
 * the presentation is valid.
 */
import type { DigitalRequest } from '../../src/exchange/presentation/digital-credentials.ts'
import { digitalButton } from './digital-credentials.ts'
import type { Texts } from './english.ts'
import { html, line } from './html.ts'
import type { Page } from './page.ts'
import { copyFields, maxLineLength, moment, pageEnd, steps, walletCode, walletLink } from './parts.ts'

export type PresentationRequestLink =
  | {
      state: 'waiting'
      /** The credentials and their claims, by the names that the verifier uses. */
      asked: readonly { credential: string; claims: readonly string[] }[]
      /** Absent: no wallet may respond by itself. */
      authorizationRequest: string | undefined
      /** By each protocol. None: the page may not use the Digital Credentials API. */
      digitalRequests: readonly DigitalRequest[]
      endsAt: Date
      staleAfterMs: number
      host: string
    }
  | { state: 'verified' | 'failed' | 'declined' | 'expired'; issuersChecked: boolean | undefined }

/** No values are shown, since whoever has the link can open the page. */
export function presentationRequestPage(texts: Texts, link: PresentationRequestLink): Page {
  const words = texts.presentation
  if (link.state !== 'waiting') {
    const { title, text } = words[link.state]
    return {
      title,
      content: html`<p class="kind">${words.kind}</p>
        <h1 data-state="${link.state}">${title}</h1>
        ${link.issuersChecked === false ? html`<p>${words.unchecked}</p>` : undefined}
        <p>${text}</p>`,
    }
  }
  const { asked, authorizationRequest, digitalRequests, endsAt, staleAfterMs, host } = link
  return {
    title: words.title,
    isWide: authorizationRequest !== undefined,
    isLive: true,
    asksBrowser: digitalRequests.length > 0,
    staleAfterMs,
    content: html`<header>
        <p class="kind">${words.kind}</p>
        <h1 data-state="waiting">${words.title}</h1>
        <p>${words.text}</p>
        <dl>
          ${asked.map(
            ({ credential, claims }) =>
              html`<div>
                <dt>${line(credential, maxLineLength)}</dt>
                <dd>${claims.length === 0 ? words.whole : line(claims.join(', '), 1_000)}</dd>
              </div>`,
          )}
        </dl>
        ${digitalRequests.length > 0 ? digitalButton(texts, digitalRequests) : undefined}
        ${authorizationRequest !== undefined ? walletLink(texts, authorizationRequest) : undefined}
      </header>
      ${authorizationRequest !== undefined ? walletCode(texts, authorizationRequest, words.code) : undefined}
      <div>
        ${
          authorizationRequest !== undefined
            ? steps(texts, [words.open, words.check(host), words.last])
            : undefined
        }
        <aside class="note"><p>${words.warning}</p></aside>
        ${
          authorizationRequest !== undefined
            ? copyFields(texts, [{ label: texts.copyLink, text: authorizationRequest }])
            : undefined
        }
        ${pageEnd(texts, texts.session.until(moment(texts, endsAt)), true)}
      </div>`,
  }
}
