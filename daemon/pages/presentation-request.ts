/**
 * The page of a presentation request over OpenID4VP: its code while it waits for a wallet, and then whether
 * the presentation is valid.
 */
import type { DigitalRequest } from '../../src/exchange/presentation/digital-credentials.ts'
import { digitalButton } from './digital-credentials.ts'
import type { Texts } from './english.ts'
import { html } from './html.ts'
import type { Page } from './page.ts'
import { copyFields, moment, pageEnd, steps, walletCode, walletLink } from './parts.ts'

export type PresentationRequestLink =
  | {
      state: 'waiting'
      /** Absent: no wallet may respond by itself. */
      authorizationRequest: string | undefined
      /** By each protocol. None: the page may not use the Digital Credentials API. */
      digitalRequests: readonly DigitalRequest[]
      endsAt: Date
      staleAfterMs: number
      host: string
    }
  | { state: 'verified' | 'failed' | 'declined' | 'expired'; issuersChecked: boolean | undefined }

/** Only the state is shown, since whoever has the link can open the page. */
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
  const { authorizationRequest, digitalRequests, endsAt, staleAfterMs, host } = link
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
