/** Names what a text that should be a token is, by its form alone. Nothing in it is decoded. */
import { formatOfId, type TokenForm, traitsOf } from '../../definitions/format-names.ts'

const forms: Readonly<Record<TokenForm, RegExp>> = {
  'an SD-JWT': /^[^~]*~/,
  'a JWT': /^[\w-]+\.[\w-]+\.[\w-]*$/,
  'an encrypted JWT': /^[\w-]+(?:\.[\w-]*){4}$/,
  JSON: /^\s*[[{]/,
  'binary data in base64url, such as an mdoc': /^[\w-]+={0,2}$/,
}

/** The form of a text. Undefined if it has none of these. */
export function formOf(text: string): TokenForm | undefined {
  return (Object.keys(forms) as TokenForm[]).find((form) => forms[form].test(text))
}

/**
 * Why a text is not of a format of OpenID4VC, continuing "it …". Undefined if it may be, or has no known
 * form.
 */
export function findOtherForm(text: string, id: string): string | undefined {
  const format = formatOfId(id)
  const [form, expected] = [formOf(text), format && traitsOf(format).form]
  if (form === undefined || expected === undefined || form === expected) return undefined
  return `is ${form}, and the format ${id} is ${expected}`
}
