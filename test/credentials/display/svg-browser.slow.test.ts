/** What the check of SVGs accepts is the same to a browser: allowed elements and attributes, which do nothing. */
import { expect, test } from 'vitest'
import { attributes, elements } from '../../../src/credentials/display/svg-names.ts'
import { checkSvg, SvgError } from '../../../src/credentials/display/svg.ts'
import { launch } from '../../support/chromium.ts'
import { untilEnd } from '../../support/shared.ts'
import { hostileSvgs } from './_hostile-svgs.ts'

const cases = 20_000

/** Of the browser. */
declare const DOMParser: any
declare const document: any

const good = `<?xml version="1.0" encoding="UTF-8"?>
<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="0 0 9 9">
  <title>A {{name}}</title><!-- b -->
  <defs><linearGradient id="g"><stop offset="0" stop-color="rgb(0,1,2)"/></linearGradient></defs>
  <style>text { fill: #fff }</style>
  <rect width="9" height='9' fill="url(#g)"/><use href="#d" xlink:href="#d"/>
  <g id="d" transform="rotate(1)"><text x="1">Tom &amp; <tspan>{{name}}</tspan></text></g>
</svg>`

/** Parts of hostile SVGs, and what separates tokens. */
const pieces = [
  ...hostileSvgs.flatMap(([, svg]) => (svg.length < 300 ? svg.split(/(?=<)|(?<=>)/) : [])),
  ...'< > / = " \' & ; { } {{ }} <!-- --> ]]> <? ?> # : ( ) @ \\ \n \t \u00a0 \u2028 \ufeff'.split(' '),
  ' onload="hit()"',
  ' style="fill:url(//evil.example/a)"',
  '<script>hit()</script>',
  '<a href="javascript:hit()">',
  'javascript:hit()',
  'href="//evil.example/a"',
]

/** A generator of numbers below a bound (xorshift). */
function createRandom(seed: number) {
  let state = seed
  return (below: number) => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) % below
  }
}

function mutate(svg: string, random: (below: number) => number): string {
  const [at, length] = [random(svg.length), random(12)]
  const piece = pieces[random(pieces.length)]!
  const changes = [
    () => svg.slice(0, at) + piece + svg.slice(at),
    () => svg.slice(0, at) + svg.slice(at + length),
    () => svg.slice(0, at) + piece + svg.slice(at + length),
    () => svg.slice(0, at) + svg.slice(random(svg.length), random(svg.length)) + svg.slice(at),
  ]
  return changes[random(changes.length)]!()
}

function isAccepted(svg: string): boolean {
  try {
    checkSvg(svg)
    return true
  } catch (error) {
    if (error instanceof SvgError) return false
    throw error
  }
}

test(`${cases} changed SVGs: what is accepted has allowed parts only, and does nothing`, async () => {
  const random = createRandom(7)
  const accepted = new Set([good])
  for (let index = 0; index < cases; index++) {
    const bases = [...accepted].slice(-50)
    const changed = mutate(bases[random(bases.length)]!, random)
    if (changed.length < 4_000 && isAccepted(changed)) accepted.add(changed)
  }
  expect(accepted.size).toBeGreaterThan(500)
  const browser = await launch()
  await untilEnd(Promise.resolve({ [Symbol.asyncDispose]: () => browser.close() }))
  const page = await browser.newPage()
  const asked: string[] = []
  await page.route('**', (route) => {
    asked.push(route.request().url())
    return route.abort()
  })
  await page.setContent('<body></body>')
  const found = await page.evaluate(
    async (svgs) => {
      const hits: string[] = []
      Object.assign(globalThis, { hit: () => hits.push('hit'), alert: () => hits.push('alert') })
      const names = { elements: new Set<string>(), attributes: new Set<string>() }
      const broken: string[] = []
      for (const svg of svgs) {
        const parsed = new DOMParser().parseFromString(svg, 'image/svg+xml')
        const fault = parsed.querySelector('parsererror')?.textContent
        if (fault) broken.push(svg)
        else
          for (const each of parsed.querySelectorAll('*')) {
            names.elements.add(each.tagName)
            for (const { name } of each.attributes) names.attributes.add(name)
          }
        // No page does this.
        document.body.innerHTML = svg
      }
      await new Promise((resolve) => setTimeout(resolve, 500))
      return { hits, broken, elements: [...names.elements], attributes: [...names.attributes] }
    },
    [...accepted],
  )
  expect(found.elements.filter((name) => !elements.has(name))).toEqual([])
  expect(found.attributes.filter((name) => !attributes.has(name))).toEqual([])
  expect([found.hits, asked]).toEqual([[], []])
  expect(found.broken).toEqual([])
})
