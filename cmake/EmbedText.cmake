# Appends `content` to the variable named `variable` as C++ string literals of limited length, since compilers
# limit the length of one literal.
function(emomc_append_literal variable content)
  set(literal "${${variable}}R\"EMOMC(")
  string(LENGTH "${content}" length)
  set(at 0)
  while(at LESS length)
    string(SUBSTRING "${content}" ${at} 12000 piece)
    string(APPEND literal "${piece})EMOMC\"\nR\"EMOMC(")
    math(EXPR at "${at} + 12000")
  endwhile()
  set(${variable} "${literal})EMOMC\"" PARENT_SCOPE)
endfunction()
