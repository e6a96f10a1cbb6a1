# SPDX-License-Identifier: Apache-2.0
# cmake -DROOT=dir -DOUT=file.cpp -DFILES="a;b" -P embed.cmake: writes FILES (relative to ROOT) as
# one table of byte arrays.
set(text "#include \"project/embedded.h\"\n\nnamespace aotc::project {\n\nnamespace {\n\n")
set(rows "")
set(index 0)
list(SORT FILES)
foreach(path ${FILES})
  file(READ ${ROOT}/${path} hex HEX)
  string(LENGTH "${hex}" digits)
  math(EXPR bytes "${digits} / 2")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," body "${hex}")
  string(APPEND text "constexpr unsigned char kFile${index}[] = {${body}0};\n")
  string(APPEND rows
         "    {\"${path}\", {reinterpret_cast<const char*>(kFile${index}), ${bytes}}},\n")
  math(EXPR index "${index} + 1")
endforeach()
string(APPEND text "\nconst EmbeddedFile kFiles[] = {\n${rows}};\n\n}  // namespace\n\n"
       "std::span<const EmbeddedFile> embedded_files() { return kFiles; }\n\n"
       "}  // namespace aotc::project\n")
file(WRITE ${OUT} "${text}")
