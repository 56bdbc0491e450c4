/** How deep a JSON text goes, told from the text: `JSON.parse` takes a tenth of a second for a megabyte of brackets, and what walks through the value may exhaust the stack. */

/** True when more than so many arrays and objects stand inside of each other. The text need not be JSON. */
export function isDeeper(json: string, levels: number): boolean {
  let depth = 0
  let inText = false
  for (let at = 0; at < json.length; at++) {
    const char = json.charCodeAt(at)
    if (inText) {
      if (char === 0x5c) at++
      else if (char === 0x22) inText = false
    } else if (char === 0x22) inText = true
    else if (char === 0x7b || char === 0x5b) {
      if (++depth > levels) return true
    } else if (char === 0x7d || char === 0x5d) depth--
  }
  return false
}
