/** The bytes of a file as the API takes them; in parts, because a call takes only so many arguments. */
export async function base64Of(file: File): Promise<string> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  const PART = 0x80_00;
  let text = '';
  for (let at = 0; at < bytes.length; at += PART)
    text += String.fromCharCode(...bytes.subarray(at, at + PART));
  return btoa(text);
}
