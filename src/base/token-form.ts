/** Names what a text that should be a token is, by its form alone. Nothing in it is decoded. */

const forms = {
  'an SD-JWT': /^[^~]*~/,
  'a JWT': /^[\w-]+\.[\w-]+\.[\w-]*$/,
  'an encrypted JWT': /^[\w-]+(?:\.[\w-]*){4}$/,
  JSON: /^\s*[[{]/,
  'binary data in base64url, such as an mdoc': /^[\w-]+={0,2}$/,
}
type TokenForm = keyof typeof forms

/** The form of a text. Undefined if it has none of these. */
function formOf(text: string): TokenForm | undefined {
  return (Object.keys(forms) as TokenForm[]).find((form) => forms[form].test(text))
}

/** The form of credentials and presentations by their format. */
const formByFormat: Readonly<Record<string, TokenForm>> = {
  'dc+sd-jwt': 'an SD-JWT',
  jwt_vc_json: 'a JWT',
}

/** Why a text is not of a format, continuing "it …". Undefined if it may be, or has no known form. */
export function findOtherForm(text: string, format: string): string | undefined {
  const [form, expected] = [formOf(text), formByFormat[format]]
  if (form === undefined || expected === undefined || form === expected) return undefined
  return `is ${form}, and the format ${format} is ${expected}`
}
