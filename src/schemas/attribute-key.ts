/** What signatures of AnonCreds call what they sign. */

/** The holder's link secret is signed among the attributes, by this name. */
export const linkSecretName = 'master_secret'

/** An attribute's name as signatures know it: small letters, no spaces. Two that are the same so would be one attribute. */
export function attributeKey(name: string): string {
  return name.replaceAll(' ', '').toLowerCase()
}
