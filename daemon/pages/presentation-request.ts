/** The page of a presentation request over OpenID4VP: its code while it waits for a wallet, and then whether the presentation is valid. */
import type { Texts } from './english.ts'
import { html } from './html.ts'
import type { Page } from './page.ts'
import { copyFields, moment, pageEnd, qrFigure, steps } from './parts.ts'

export type PresentationRequestLink =
  | { state: 'waiting'; authorizationRequest: string; endsAt: Date; staleAfterMs: number; host: string }
  | { state: 'verified' | 'failed' | 'declined' | 'expired' }

/** Only the state is shown, since whoever has the link can open the page. */
export function presentationRequestPage(texts: Texts, link: PresentationRequestLink): Page {
  const words = texts.presentation
  if (link.state !== 'waiting') {
    const { title, text } = words[link.state]
    return {
      title,
      content: html`<p class="kind">${words.kind}</p>
        <h1 data-state="${link.state}">${title}</h1>
        <p>${text}</p>`,
    }
  }
  const { authorizationRequest, endsAt, staleAfterMs, host } = link
  return {
    title: words.title,
    isWide: true,
    isLive: true,
    staleAfterMs,
    content: html`<header>
        <p class="kind">${words.kind}</p>
        <h1 data-state="waiting">${words.title}</h1>
        <p>${words.text}</p>
      </header>
      ${qrFigure(texts, authorizationRequest, words.code)}
      <div>
        ${steps(texts, [words.open, words.check(host), words.last])}
        <p><a href="${authorizationRequest}">${words.here}</a></p>
        <aside class="note"><p>${words.warning}</p></aside>
        ${copyFields(texts, [{ label: texts.copyLink, text: authorizationRequest }])}
        ${pageEnd(texts, texts.session.until(moment(texts, endsAt)), true)}
      </div>`,
  }
}
