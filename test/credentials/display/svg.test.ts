/** SVGs of issuers: what is refused, and what a template shows of claims. */
import { expect, test } from 'vitest'
import { checkSvg, renderSvg, SvgError } from '../../../src/credentials/display/svg.ts'
import { PictureError, readPicture } from '../../../src/credentials/display/picture.ts'
import { hostileSvgs } from './_hostile-svgs.ts'

const card = `\uFEFF<?xml version="1.0" encoding="UTF-8"?>
<!-- Made by hand. -->
<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="0 0 340 214">
  <title>Card of {{given_name}}</title>
  <defs>
    <linearGradient id="ground" gradientTransform="rotate(90)">
      <stop offset="0" stop-color="rgb(0, 51, 102)"/><stop offset="1" style="stop-color: #000"/>
    </linearGradient>
    <clipPath id="edge"><rect width="340" height="214" rx="12"/></clipPath>
    <g id="dot"><circle r="2"/></g>
  </defs>
  <style>text { font-family: sans-serif; fill: #ffffff }</style>
  <g clip-path="url(#edge)">
    <rect width="340" height="214" fill='url("#ground")'/>
    <use href="#dot" transform="translate(10, 10)"/><use xlink:href="#dot"/>
    <text x="20" y="40" font-size="20">Acme &amp; Co</text>
    <text x="20" y="80"><tspan>{{given_name}}</tspan> <tspan>{{family_name}}</tspan></text>
  </g>
</svg>
`

test.each(hostileSvgs)('%s is refused by its name and line', (_, svg, reason) => {
  expect(() => checkSvg(svg)).toThrow(SvgError)
  expect(() => checkSvg(svg)).toThrow(reason)
  expect(() => readPicture(Buffer.from(svg))).toThrow(PictureError)
})

// A tag right behind another must be read like one on its own line.
test.each(hostileSvgs)('%s is refused without line breaks', (_, svg) => {
  expect(() => checkSvg(svg.replaceAll('\n', ''))).toThrow(SvgError)
  expect(() => checkSvg(svg.replaceAll('\n', '<title>a</title>'))).toThrow(SvgError)
})

test('a card is accepted, and its placeholders are known', () => {
  expect([...checkSvg(card)]).toEqual(['given_name', 'family_name'])
  expect(readPicture(Buffer.from(card))).toMatchObject({ mediaType: 'image/svg+xml' })
})

test('values are escaped, and a missing one is empty', () => {
  const shown = renderSvg(card, new Map([['given_name', `</text><script>"'&{{family_name}}`]]))
  expect(shown).toContain(
    '<tspan>&lt;/text&gt;&lt;script&gt;&quot;&apos;&amp;&#123;&#123;family_name&#125;&#125;</tspan> <tspan></tspan>',
  )
  expect(shown).not.toContain('<script')
})

test.each([
  ['image/png', '\x89PNG\r\n\x1a\n'],
  ['image/jpeg', '\xff\xd8\xff\xe0'],
  ['image/webp', 'RIFF\x10\0\0\0WEBPVP8 '],
])('the bytes say that a picture is %s', (mediaType, start) => {
  expect(readPicture(Buffer.from(start, 'latin1'))).toMatchObject({ mediaType })
})

test.each([
  ['a GIF', Buffer.from('GIF89a'), 'is no picture'],
  ['nothing', Buffer.alloc(0), 'is no picture'],
  ['text', Buffer.from('hello'), 'is no picture'],
  ['an SVG in UTF-16', Buffer.from(card, 'utf16le'), 'is no picture'],
  ['a large file', Buffer.alloc(262_145), 'has 262145 bytes, more than 262144'],
])('%s is refused', (_, bytes, reason) => {
  expect(() => readPicture(bytes)).toThrow(reason)
})

test.each(['<', '<!-', '<g ', '{{', '&', "<g a='", '<!-- -', '<style>a('])(
  '%j many times is refused',
  (part) => {
    const svg = `<svg xmlns="http://www.w3.org/2000/svg"><text>${part.repeat(60_000)}`
    expect(() => checkSvg(svg)).toThrow(SvgError)
  },
)
