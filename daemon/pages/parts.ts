/** Parts that the pages share. */
import type { Texts } from './english.ts'
import { html, line, type Html } from './html.ts'
import { toQrCode } from './qr-code.ts'

/** Longer names and goals are cut: other people choose them, and they must not push the rest off the page. */
export const maxLineLength = 200

/** A text that another party chose, in quotation marks and isolated from the direction of the text around it. */
export function quoted({ quotes }: Texts, text: string): Html {
  return html`<bdi>${quotes[0]}${text}${quotes[1]}</bdi>`
}

/** The QR code of a text, or a note when the text is too long for one. `label` names the code. */
export function qrFigure(texts: Texts, text: string, label: string): Html {
  const code = toQrCode(text, label)
  if (code)
    return html`<figure>
      ${code}
      <figcaption>${texts.scan}</figcaption>
    </figure>`
  return html`<figure class="note"><p>${texts.tooLong}</p></figure>`
}

/** The button that opens the wallet on this device. */
export function walletLink({ presentation: { here } }: Texts, link: string): Html {
  return html`<p class="buttons"><a class="button" href="${link}">${here}</a></p>`
}

/**
 * The QR code of a link that a wallet on this device can open too: on a narrow screen, which is mostly that
 * of the phone with the wallet, it is folded.
 */
export function walletCode(texts: Texts, link: string, label: string): Html {
  return html`${qrFigure(texts, link, label)}
    <details class="folded">
      <summary>${texts.offer.fold}</summary>
      ${qrFigure(texts, link, label)}
    </details>`
}

/** The QR code of the long form of a short link, for wallets that do not follow links. */
export function longCode(texts: Texts, text: string, label: string): Html {
  return html`<details>
    <summary>${texts.longCode}</summary>
    <p>${texts.longCodeText}</p>
    ${qrFigure(texts, text, label)}
  </details>`
}

export function steps({ steps: heading }: Texts, items: readonly (Html | string)[]): Html {
  return html`<h2>${heading}</h2>
    <ol>
      ${items.map((item) => html`<li>${item}</li>`)}
    </ol>`
}

/** Texts to copy, for people whose wallet is on the same device. */
export function copyFields({ copy }: Texts, fields: readonly { label: string; text: string }[]): Html {
  return html`<details>
    <summary>${copy}</summary>
    ${fields.map(({ label, text }, index) => {
      const rows = text.length < 120 ? 2 : 6
      return html`<label for="copy-${index}">${label}</label>
        <textarea id="copy-${index}" readonly rows="${rows}" spellcheck="false">${text}</textarea>`
    })}
  </details>`
}

/** The end of a page. `isLive`: with scripts, the page reloads when its link closes. */
export function pageEnd({ reload }: Texts, text: Html | undefined, isLive: boolean): Html | undefined {
  if (text === undefined && !isLive) return undefined
  return html`<footer>
    ${text && html`<p>${text}</p>`} ${isLive ? html`<noscript><p>${reload}</p></noscript>` : undefined}
  </footer>`
}

/** A time in UTC, since the reader may be in any time zone. */
export function moment({ locale }: Texts, date: Date): Html {
  const format = new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeStyle: 'medium', timeZone: 'UTC' })
  return html`<time datetime="${date.toISOString()}">${format.format(date)} UTC</time>`
}

/** A row of a list of terms. None without a value. */
export function row(name: string, value: string | undefined): Html | undefined {
  const text = line(value, 1_000)
  return text === undefined
    ? undefined
    : html`<div>
        <dt>${name}</dt>
        <dd>${text}</dd>
      </div>`
}

/** The picture of a credential, whose name is beside it. `card` is a `data:` URL. */
export function cardImage(card: string | undefined): Html | undefined {
  return card === undefined ? undefined : html`<img class="card" src="${card}" alt="" />`
}
