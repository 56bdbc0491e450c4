/**
 * SVGs of issuers: which are safe to be shown, and the templates that have the values of claims
 * (draft-ietf-oauth-sd-jwt-vc, "Rendering Method svg_templates"). They are read strictly, as the subset of
 * XML in `svg-names.ts`, so that no reader can see something else in them.
 */
import {
  attributes,
  elements,
  functions,
  links,
  namespaces,
  paints,
  plain,
  withPlaceholders,
  withText,
} from './svg-names.ts'

/** The reason for which an SVG is refused, and where. */
export class SvgError extends Error {
  override name = 'SvgError'

  constructor(line: number, reason: string) {
    super(`line ${line} ${reason}`)
  }
}

const maxElements = 10_000
const maxDepth = 64
/** The most elements that references may draw, however they are nested. */
const maxReferences = 10_000

/** The id of a claim in templates. */
export const svgIdPattern = /^[A-Za-z_][A-Za-z0-9_]{0,99}$/

const patterns = {
  declaration:
    /<\?xml[ \t\r\n]+version[ \t\r\n]*=[ \t\r\n]*(["'])1\.0\1(?:[ \t\r\n]+encoding[ \t\r\n]*=[ \t\r\n]*(["'])utf-8\2)?(?:[ \t\r\n]+standalone[ \t\r\n]*=[ \t\r\n]*(["'])(?:yes|no)\3)?[ \t\r\n]*\?>/iy,
  comment: /<!--(?:(?!--)[^])*-->/y,
  text: /[^<]+/y,
  end: /<\/([^ \t\r\n<>/]+)[ \t\r\n]*>/y,
  start: /<([^ \t\r\n<>/!?'"=]+)/y,
  attribute: /[ \t\r\n]+([^ \t\r\n<>/'"=]+)[ \t\r\n]*=[ \t\r\n]*(?:"([^"<]*)"|'([^'<]*)')/y,
  close: /[ \t\r\n]*(\/?)>/y,
}

// oxlint-disable-next-line no-control-regex
const controls = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f\ufffe\uffff]/
/** White space of XML, which is less than that of JavaScript. */
const isBlank = /^[ \t\r\n]*$/
const localId = /^[A-Za-z_][\w.-]*$/
const link = /^#([A-Za-z_][\w.-]*)$/
const paint = /^url\((["']?)#([A-Za-z_][\w.-]*)\1\)$/
const placeholder = /\{\{([^{}]*)\}\}/g

type Refuse = (reason: string) => never
type Token = { refuse: Refuse; line: number } & (
  | { kind: 'text'; text: string }
  | { kind: 'start'; name: string; given: ReadonlyMap<string, string>; isEmpty: boolean }
  | { kind: 'end'; name: string }
)
type Element = { name: string; id: string | undefined }
/** An element that has another drawn: the ids of those that it is in, and its own. */
type Reference = { from: readonly string[]; to: string; line: number }

/** The ids of the claims that an SVG has a placeholder for. @throws {SvgError} for one that is not safe */
export function checkSvg(svg: string): Set<string> {
  const placeholders = new Set<string>()
  const ids = new Set<string>()
  const references: Reference[] = []
  const open: Element[] = []
  let [count, last, hasXlink] = [0, 1, false]
  for (const token of tokensOf(svg)) {
    const { refuse, line } = token
    last = line
    if (token.kind === 'text') {
      checkText(token.text, open.at(-1)?.name, refuse, placeholders)
    } else if (token.kind === 'end') {
      if (open.pop()?.name !== token.name) refuse(`closes the element ${token.name}, which is not open`)
    } else {
      const { name, given, isEmpty } = token
      const id = given.get('id')
      if (open.length === 0) {
        checkRoot(token, count)
        hasXlink = given.has('xmlns:xlink')
      }
      if (given.has('xlink:href') && !hasXlink) refuse('has xlink:href, and its root has no xmlns:xlink')
      if (open.length === maxDepth) refuse(`has more than ${maxDepth} elements in one another`)
      if (++count > maxElements) refuse(`has more than ${maxElements} elements`)
      if (id !== undefined && ids.has(id)) refuse(`has the id ${id} twice`)
      if (id !== undefined) ids.add(id)
      const from = [...open, { id }].flatMap((each) => each.id ?? [])
      for (const to of referredBy(given)) references.push({ from, to, line })
      if (!isEmpty) open.push({ name, id })
    }
  }
  if (count === 0 || open.length > 0) throw new SvgError(last, 'ends before the element svg is closed')
  checkReferences(references)
  return placeholders
}

/** Text, and tags whose names and attributes are allowed. */
function* tokensOf(svg: string): Generator<Token> {
  let at = svg.startsWith('\uFEFF') ? 1 : 0
  const counted = { at: 0, line: 1 }
  const lineOf = () => {
    counted.line += svg.slice(counted.at, at).split('\n').length - 1
    counted.at = at
    return counted.line
  }
  const refuse: Refuse = (reason) => {
    throw new SvgError(lineOf(), reason)
  }
  const take = (pattern: keyof typeof patterns) => {
    const regex = patterns[pattern]
    regex.lastIndex = at
    const match = regex.exec(svg)
    if (match) at = regex.lastIndex
    return match
  }
  const control = controls.exec(svg)
  if (control) {
    at = control.index
    refuse('has a control character')
  }
  if (svg.startsWith('<?xml', at) && !take('declaration'))
    refuse('declares an encoding other than UTF-8, or something else than version 1.0')
  while (at < svg.length) {
    const comment = take('comment')
    if (comment?.[0].includes('{{')) refuse('has a placeholder in a comment')
    if (comment) continue
    const text = take('text')?.[0]
    const end = text === undefined ? take('end')?.[1] : undefined
    const start = text === undefined && end === undefined ? take('start')?.[1] : undefined
    if (text !== undefined && isBlank.test(text)) continue
    const place = { refuse, line: lineOf() }
    if (text !== undefined) yield { ...place, kind: 'text', text }
    else if (end !== undefined) yield { ...place, kind: 'end', name: end }
    else if (start === undefined)
      refuse('has a document type, a CDATA section, a processing instruction or a faulty tag')
    else {
      if (!elements.has(start)) refuse(`has the element ${shown(start)}, which is not allowed`)
      const given = new Map<string, string>()
      for (let match = take('attribute'); match; match = take('attribute')) {
        const [, key = '', value = match[3] ?? ''] = match
        if (given.has(key)) refuse(`has the attribute ${shown(key)} twice`)
        checkAttribute(key, value, refuse)
        given.set(key, value)
      }
      const close = take('close') ?? refuse(`has a faulty attribute in the element ${start}`)
      yield { ...place, kind: 'start', name: start, given, isEmpty: close[1] !== '' }
    }
  }
}

function checkRoot({ name, given, refuse }: Extract<Token, { kind: 'start' }>, count: number): void {
  if (name !== 'svg' || count > 0) refuse('has something other than one element svg at its root')
  if (given.get('xmlns') !== namespaces['xmlns']) refuse(`has no xmlns="${namespaces['xmlns']}" at its root`)
}

/** Adds the placeholders of a text. */
function checkText(
  text: string,
  parent: string | undefined,
  refuse: Refuse,
  placeholders: Set<string>,
): void {
  if (parent === undefined) return refuse('has text outside of the element svg')
  if (!withText.has(parent)) refuse(`has text in the element ${parent}`)
  checkEntities(text, refuse)
  if (text.includes(']]>')) refuse('has the end of a CDATA section')
  if (parent === 'style') checkStyle(text, refuse)
  const rest = text.replaceAll(placeholder, (_, id: string) => {
    if (!withPlaceholders.has(parent)) refuse(`has a placeholder in the element ${parent}`)
    if (!svgIdPattern.test(id)) refuse(`has the placeholder {{${shown(id)}}}, which is not an id`)
    placeholders.add(id)
    return ''
  })
  if (rest.includes('{{') || rest.includes('}}')) refuse('has a placeholder that is not {{id}}')
}

const shown = (name: string) => name.slice(0, 100)

/** The ids that attributes refer to. */
function referredBy(given: ReadonlyMap<string, string>): string[] {
  return [...given].flatMap(([name, value]) => {
    const match = links.has(name) ? link.exec(value) : paints.has(name) ? paint.exec(value) : undefined
    return match?.at(-1) ?? []
  })
}

/** An SVG whose placeholders have the values of claims; one without a value becomes empty. */
export function renderSvg(svg: string, values: ReadonlyMap<string, string>): string {
  return svg.replaceAll(placeholder, (_, id: string) => escapeText(values.get(id) ?? ''))
}

const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
  '{': '&#123;',
  '}': '&#125;',
}

/** A text as XML. */
export const escapeText = (text: string): string =>
  text.replaceAll(/[&<>"'{}]/g, (character) => escapes[character]!)

function checkEntities(text: string, refuse: Refuse): void {
  const found = /&(?!(?:amp|lt|gt|quot|apos);)[^;]{0,20};?/.exec(text)
  if (found) refuse(`has the entity ${found[0]}, which is not allowed`)
}

function checkAttribute(name: string, value: string, refuse: Refuse): void {
  if (!attributes.has(name)) refuse(`has the attribute ${shown(name)}, which is not allowed`)
  checkEntities(value, refuse)
  if (value.includes('{{')) refuse(`has a placeholder in the attribute ${shown(name)}`)
  if (name in namespaces && value !== namespaces[name]) refuse(`has another namespace in ${name}`)
  if (name === 'id' && !localId.test(value)) refuse('has an id that is not a name')
  if (links.has(name) && !link.test(value)) refuse(`has a ${name} other than #id`)
  if (paints.has(name) && paint.test(value)) return
  if (!(name in namespaces) && !plain.has(name)) checkStyle(value, refuse)
}

/** CSS, and attributes that are read like CSS. */
function checkStyle(css: string, refuse: Refuse): void {
  if (/[@\\]/.test(css)) refuse(`has ${css.includes('@') ? '@' : 'a backslash'} in a style or an attribute`)
  for (const [, name = ''] of css.matchAll(/([^\s()[\]{}:;,'"]*)\s*\(/g))
    if (!functions.has(name.toLowerCase()))
      refuse(`has ${name.slice(0, 100)}( in a style or an attribute, which is not allowed`)
}

/** Elements that draw others many times over, or themselves, would occupy a reader for ever. */
function checkReferences(references: readonly Reference[]): void {
  const below = new Map<string, Reference[]>()
  for (const reference of references)
    for (const id of reference.from) below.set(id, [...(below.get(id) ?? []), reference])
  const costs = new Map<string, number>()
  const costOf = ({ to, line }: Reference, path: readonly string[]): number => {
    if (path.length === maxDepth)
      throw new SvgError(line, `has more than ${maxDepth} references in one another`)
    if (path.includes(to)) throw new SvgError(line, `has the element ${to.slice(0, 100)}, which draws itself`)
    const known = costs.get(to)
    if (known !== undefined) return known
    const within = [...path, to]
    const cost = (below.get(to) ?? []).reduce((sum, each) => sum + costOf(each, within), 1)
    costs.set(to, cost)
    return cost
  }
  let total = 0
  for (const reference of references) {
    total += costOf(reference, [])
    if (total > maxReferences)
      throw new SvgError(reference.line, `draws more than ${maxReferences} elements by references`)
  }
}
