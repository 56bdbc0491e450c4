/** A card as SVG: the name of a credential in the colours of its issuer, with the logo. */
import { escapeText } from './svg.ts'

export type Card = {
  name: string
  issuer?: string | undefined
  description?: string | undefined
  backgroundColor?: string | undefined
  textColor?: string | undefined
  /** `data:` URLs of pictures. */
  logo?: string | undefined
  backgroundImage?: string | undefined
}

/** The colours of a card without colours of its own. */
const own = { backgroundColor: '#e8eaed', textColor: '#1b1f24' }

/** The template for a page with a light ground: one that is not dark, or else the first. */
export function lightTemplate<Template extends { colorScheme?: 'light' | 'dark' | undefined }>(
  templates: readonly Template[] = [],
): Template | undefined {
  return templates.find(({ colorScheme }) => colorScheme !== 'dark') ?? templates[0]
}

/** The contrast that texts need (WCAG 2.2, 1.4.3). */
const leastContrast = 4.5

/** Readable colours: those of the card, or those of the page if they cannot be told apart. */
export function coloursOf({ backgroundColor, textColor }: Pick<Card, 'backgroundColor' | 'textColor'>) {
  if (backgroundColor === undefined) return own
  const text = textColor ?? (contrastOf(backgroundColor, '#ffffff') >= leastContrast ? '#ffffff' : '#000000')
  return contrastOf(backgroundColor, text) >= leastContrast ? { backgroundColor, textColor: text } : own
}

/** Of two colours such as `#1a5fb4`, from 1 to 21. */
export function contrastOf(one: string, other: string): number {
  const [dark = 0, light = 0] = [one, other].map(luminanceOf).toSorted((a, b) => a - b)
  return (light + 0.05) / (dark + 0.05)
}

function luminanceOf(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const value = Number.parseInt(colour.slice(at, at + 2), 16) / 255
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

/** The card, of the size of an identity card (ISO/IEC 7810 ID-1). */
export function drawCard(card: Card): string {
  const { name, issuer, description, logo, backgroundImage } = card
  const { backgroundColor, textColor } = coloursOf(card)
  const line = (text: string | undefined, y: number, size: number, longest: number) =>
    text === undefined
      ? ''
      : `<text x="20" y="${y}" font-size="${size}" fill="${textColor}">${escapeText(shorten(text, longest))}</text>`
  const picture = (url: string | undefined, place: string) =>
    url === undefined ? '' : `<image href="${escapeText(url)}" ${place}/>`
  return [
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 340 214" width="340" height="214" font-family="sans-serif">',
    `<title>${escapeText(name)}</title>`,
    `<rect width="340" height="214" rx="12" fill="${backgroundColor}"/>`,
    picture(backgroundImage, 'width="340" height="214" preserveAspectRatio="xMidYMid slice" opacity="0.25"'),
    picture(logo, 'x="20" y="20" width="64" height="64" preserveAspectRatio="xMinYMin"'),
    line(name, 130, 22, 26),
    line(description, 156, 13, 44),
    line(issuer, 190, 14, 40),
    '</svg>',
  ].join('')
}

const shorten = (text: string, longest: number) =>
  [...text].length <= longest ? text : `${[...text].slice(0, longest - 1).join('')}…`

/** The URL of an SVG for an image element, in which it runs no script and loads nothing. */
export const toImageUrl = (svg: string, mediaType = 'image/svg+xml') =>
  `data:${mediaType};base64,${Buffer.from(svg).toString('base64')}`
